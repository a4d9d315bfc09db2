#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/engine/live_inputs.hpp"
#include "core/exchange/lent_slices.hpp"
#include "formats/geometry.hpp"
#include "formats/offset_span.hpp"
#include "formats/slice_set.hpp"

namespace eventloom {

struct SourceRoleSettings {
  SliceGeometry geometry;
  SliceId first_slice;
  SliceSet finished;  ///< slices that are not sent
  std::uint32_t n_builders = 1;
  /// A source serves no builder more than this many slices ahead of its slowest one. This bounds the data that a source
  /// read sequentially must keep.
  std::uint64_t max_lead = 0;
  /// Messages that this rank's sources keep in flight; 0: see transfers_for().
  std::uint32_t transfers_in_flight = 0;
  /// Recorded time per real time; 0: as fast as possible. Does not apply to live sources.
  double speed = 0;
  LivePatience patience = {};
  /// Nanoseconds since the common start of all ranks, negative before it; required if the schedule has slots.
  std::function<std::int64_t()> since_start;
  /// Span of the time corrections of each source, by source number; empty: no corrections.
  std::vector<OffsetSpan> offsets = {};
  /// Indexed by builder: 0 if the sources on this rank do not serve it. Empty: all are served.
  std::vector<std::uint8_t> served;

  /// Null: the sources send to builders on their own rank, too. Must outlive the sources.
  LentSlices* lent = nullptr;

  [[nodiscard]] bool serves(std::size_t builder) const { return served.empty() || served[builder] != 0; }
};

struct LocalSource {
  SourceId id;
  std::unique_ptr<Source> stream;
  LiveStream* live = nullptr;  ///< `stream` if it is live, otherwise null
  LiveBegin begin = {};        ///< how `live` begins; its epoch is set then
};

}  // namespace eventloom
