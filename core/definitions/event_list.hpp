#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions/hit_key.hpp"
#include "core/runtime/scratch.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Position of a slice in the time range that its builder sees, in ticks relative to the beginning of that range.
struct SliceBounds {
  Tick start = 0;  ///< absolute tick at which the range begins
  Tick slice_begin = 0;
  Tick slice_end = 0;
  Tick overlap = 0;  ///< maximum length of an event
};

/// An event as a range of EventList::hits().
struct EventRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool truncated = false;
};

/// The events that have a hit in a slice, each a list of hits in ascending order; no hit belongs to two events. Events
/// that are runs of the sorted hits refer to these, others to copies of their hits. Reuses its memory between slices.
class EventList {
 public:
  /// Empties the list. `sorted`: all hits that the builder sees, ascending; they must outlive the use of the list.
  void restart(std::span<const HitKey> sorted, const SliceBounds& bounds);

  /// Events must be added in ascending order of their first hits, either all as runs or all as lists. An event is cut
  /// at the overlap, and added if it then has a hit in the slice. Returns false once no later event can have a hit in
  /// the slice.
  [[gnu::always_inline]] bool add_run(EventRange run) { return add(sorted_, run); }
  /// Adds the runs with these numbers as add_run() does. `starts` has the beginning of each run and the end of the
  /// last.
  void add_runs(std::span<const std::uint32_t> starts, std::span<const std::uint32_t> numbers);
  bool add_list(std::span<const HitKey> hits);
  /// Takes an event of another list with the same bounds, as it is.
  void take_list(std::span<const HitKey> hits, bool truncated);

  [[nodiscard]] const SliceBounds& bounds() const { return bounds_; }
  /// Length at which events are cut.
  [[nodiscard]] Tick overlap() const { return bounds_.overlap; }
  [[nodiscard]] std::span<const EventRange> events() const { return events_; }
  [[nodiscard]] std::span<const HitKey> hits() const { return copies_.empty() ? sorted_ : copies_; }

  /// Uninitialised room for `n` numbers, for the event search.
  std::uint32_t* scratch(std::size_t n) { return scratch_.require(n); }

 private:
  /// Called for every event: therefore in the header, and always inlined, even at several call sites.
  [[gnu::always_inline]] bool add(std::span<const HitKey> hits, EventRange event) {
    if (tick_of(hits[event.begin]) >= bounds_.slice_end) return false;
    if (fits(hits, event)) events_.push_back(event);
    return true;
  }
  /// Cuts the event at the overlap. Returns whether it then has a hit in the slice.
  [[gnu::always_inline]] [[nodiscard]] bool fits(std::span<const HitKey> hits, EventRange& event) const {
    const Tick first = tick_of(hits[event.begin]);
    if (tick_of(hits[event.end - 1]) - first > bounds_.overlap) cut(hits, event);
    return first >= bounds_.slice_begin || reaches_slice(hits, event);
  }
  void cut(std::span<const HitKey> hits, EventRange& event) const;
  [[nodiscard]] bool reaches_slice(std::span<const HitKey> hits, const EventRange& event) const;

  std::span<const HitKey> sorted_;
  SliceBounds bounds_;
  std::vector<EventRange> events_;
  std::vector<HitKey> copies_;
  Scratch<std::uint32_t> scratch_;
};

}  // namespace eventloom
