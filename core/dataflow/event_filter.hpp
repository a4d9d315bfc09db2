#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/event.hpp"

namespace eventloom {

/// The conjunction of `--filter` expressions: n_hits, duration, systems or channel:LOW-HIGH compared with a number by
/// >= > <= < == !=, or prescale=N, which keeps the events whose time, hashed by SplitMix64, is a multiple of N. A pure
/// function of the event.
class EventFilter {
 public:
  /// One comparison of a quantity of the event with a number.
  struct Condition {
    enum class Quantity : std::uint8_t { n_hits, duration, systems, channel, prescale };
    enum class Comparison : std::uint8_t { at_least, at_most, above, below, equal, unequal };
    Quantity quantity = Quantity::n_hits;
    Comparison comparison = Comparison::at_least;
    std::uint32_t low = 0;  ///< channels counted, both ends included
    std::uint32_t high = 0;
    std::uint64_t value = 0;
  };

  /// Throws UserError that says what was expected. Durations are ticks or carry a unit.
  void add(std::string_view expression, std::uint64_t tick_ps);
  [[nodiscard]] bool empty() const { return conditions_.empty(); }

  /// Removes foreign and rejected events from `slice`, with their hits, and moves the slice's hits in rejected events
  /// from `hits_in_events` to `hits_rejected` in its ledger row. Counts the rejected events that are its own.
  void select(BuiltSlice& slice) const;

 private:
  std::vector<Condition> conditions_;
};

}  // namespace eventloom
