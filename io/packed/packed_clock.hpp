#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/packed/field.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/tick_scale.hpp"

namespace eventloom {

/// Converts the numbers in the time field to ticks, or to event numbers with the key `numbered=yes`.
class PackedClock {
 public:
  /// Throws UserError when a key is invalid.
  PackedClock(const SourceUri& uri, const PackedField& time, std::uint64_t tick_ps);

  [[nodiscard]] bool numbered() const { return numbered_; }
  /// Converts all times, or none and returns false; they must then be converted one by one in order.
  [[nodiscard]] bool convert(std::span<Tick> times) const;
  /// std::nullopt if the time does not fit. Throws UserError if it would have to be rounded and must not be.
  std::optional<Tick> convert(std::uint64_t number, std::uint32_t channel);
  /// Why convert() returned std::nullopt. Throws UserError, whose line begins with `place`, where the number is none of
  /// the counter, unless the URI has skip-bad=yes.
  [[nodiscard]] std::string defect(const std::string& place, std::uint64_t number, std::uint32_t channel);
  /// Whether the type of a number that convert() accepts has too few digits for its value, unless `round` allows that.
  [[nodiscard]] bool is_imprecise(std::uint64_t number) const;
  [[nodiscard]] std::string precision_defect(std::uint64_t number) const;
  [[nodiscard]] ClockTurns& turns() { return turns_; }
  [[nodiscard]] const ClockTurns& turns() const { return turns_; }
  [[nodiscard]] RawClock raw_clock() const { return scale_.raw_clock(0); }

 private:
  [[nodiscard]] std::optional<std::uint64_t> unwrapped(std::uint64_t number, std::uint32_t channel);

  SourceUri uri_;
  PackedField field_;
  bool numbered_;
  TickScale scale_;
  ClockTurns turns_;
};

}  // namespace eventloom
