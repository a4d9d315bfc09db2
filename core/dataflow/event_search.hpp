#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/collect_events.hpp"
#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/number_match.hpp"
#include "core/dataflow/removed_hits.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "core/detector/value_table.hpp"
#include "core/runtime/scratch.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// A slice to search for events: all its hits, decoded and in time order.
struct SliceHits {
  const DecodedHits& decoded;
  std::span<const HitKey> keys;
  SliceBounds bounds;                    ///< the overlap is that of the search
  std::span<const SourceDamage> damage;  ///< ordered by source
  RemovedHits* removed;                  ///< null if no hit is removed or has its time changed
  std::uint64_t n_remaining;             ///< hits of the slice that are not removed
};

/// The events of one definition in the slices of a builder, and their account. Reuses its memory between slices.
class EventSearch {
 public:
  /// `settings` must outlive this object. `wanted`: one of its events.
  EventSearch(const SliceBuilderSettings& settings, const WantedEvents& wanted);

  /// Replaces the contents of `out`; its losses are those found here. `problems`: those of the slice so far;
  /// appends those found here.
  void build(SliceHits slice, SliceId id, BuiltSlice& out, std::vector<BuildProblem>& problems);

  /// Finds the events among all hits of a slice, including those that build() excludes from events by number.
  void find(SliceHits slice);
  /// The events found last, as runs of the keys; empty if the definition's events are not runs.
  [[nodiscard]] std::span<const EventRange> runs() const;
  /// Whether build() may exclude hits from events by number.
  [[nodiscard]] bool matches_numbers() const { return match_.has_value(); }

 private:
  std::span<const double> values_of(const DecodedHits& hits);

  const SliceBuilderSettings& settings_;
  WantedEvents wanted_;
  DefinitionTraits traits_;
  SliceGeometry geometry_;
  EventList events_;
  EventCollector collector_;
  std::optional<NumberMatch> match_;       ///< only for events built by number
  std::optional<ValueTable> value_table_;  ///< only if the definition uses values
  Scratch<double> values_;
};

}  // namespace eventloom
