#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/event_definition.hpp"
#include "core/dataflow/scratch.hpp"
#include "core/dataflow/time_sort.hpp"

namespace eventloom {

/// An event as a range of sorted hits.
struct EventRange {
  std::uint32_t begin;
  std::uint32_t end;
  bool truncated;
};

/// What of a window a slice wants to know; ticks relative to the window.
struct DefineWindow {
  Tick start = 0;  ///< absolute tick of the window's begin
  std::uint64_t slice_begin = 0;
  std::uint64_t slice_end = 0;
  Tick overlap = 0;
};

/// Finds events in sorted hits.
class EventFinder {
 public:
  explicit EventFinder(EventDefinition definition) : definition_(definition) {}

  /// All events that have a hit in the slice, in rising time, cut at the overlap. The result stays
  /// valid until the next call. Right as long as the keys cover overlap + reach_of() around the slice.
  std::span<const EventRange> find(std::span<const HitKey> keys, const DefineWindow& window);

  /// The same from event tags that a run with the same definition and overlap has left; tags that cannot be right
  /// are not used.
  std::span<const EventRange> find_tagged(std::span<const HitKey> keys, const DefineWindow& window,
                                          const DecodedHits& hits);

 private:
  [[nodiscard]] bool plausible(std::span<const HitKey> keys, const DefineWindow& window) const;
  void find_gap(const GapDefinition& gap);
  void find_multiplicity(const MultiplicityDefinition& multiplicity);
  void widen(const MultiplicityDefinition& multiplicity, std::uint64_t first_bin, std::uint64_t last_bin,
             std::uint32_t begin, std::uint32_t end);
  bool admit(std::uint32_t begin, std::uint32_t end, std::uint64_t min_hits);

  EventDefinition definition_;
  std::span<const HitKey> keys_;
  DefineWindow window_;
  Scratch<std::uint32_t> starts_;
  std::vector<EventRange> events_;
};

}  // namespace eventloom
