#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// A removed hit: its time, relative like those of the keys, and its source.
struct TakenOut {
  Tick tick = 0;
  std::uint16_t source = 0;
  friend auto operator<=>(const TakenOut&, const TakenOut&) = default;
};

/// Account of the hits that a builder removes from a slice: masked, cut, without a time, and others. A hit belongs to
/// the slice that contains its corrected time, and hits before tick 0 belong to slice 0.
class RemovedHits {
 public:
  /// `lists`: keep the list taken_out().
  RemovedHits(std::size_t n_sources, bool lists) : counts_(n_sources), lists_(lists) {}

  /// Begins with another slice.
  void restart(const SliceBounds& bounds);
  /// Counts a hit if it belongs to the slice. `tick`: its corrected time, relative to SliceBounds::start.
  void remove(std::uint16_t source, std::int64_t tick, DropCause cause);
  /// Counts hits that belong to the slice.
  void add(std::uint16_t source, DropCause cause, std::uint64_t n_hits);
  /// Whether the slice is the first, which owns hits before tick 0.
  [[nodiscard]] bool is_first() const { return bounds_.start + bounds_.slice_begin == 0; }

  [[nodiscard]] std::uint64_t of(std::size_t source) const;
  [[nodiscard]] std::uint64_t of(std::size_t source, DropCause cause) const {
    return counts_[source][static_cast<std::size_t>(cause)];
  }
  /// Enters the counts into the account of the slice. Those of untimed hits are reported as problems, too, which makes
  /// them losses already.
  void account(BuiltSlice& out) const;
  /// The slice's removed hits, ascending.
  [[nodiscard]] std::span<const TakenOut> taken_out();

 private:
  std::vector<std::array<std::uint64_t, kDropCauses>> counts_;  ///< indexed by source
  bool lists_;
  std::vector<TakenOut> taken_out_;
  SliceBounds bounds_;
};

}  // namespace eventloom
