#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/dataflow/histogram_set.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/detector/detector.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/offset_span.hpp"

namespace eventloom {

/// How to read back streams of time-sorted hits (formats/sorted_hit.hpp).
struct SortedInput {
  std::uint32_t n_sources = 0;  ///< number of sources of the run that sorted them
};

/// All ticks that hits may have: max_epoch() is below the last.
inline constexpr TickRange kAllTime{0, std::numeric_limits<Tick>::max()};

/// One kind of events to search for.
struct WantedEvents {
  EventDefinitionPtr definition;  ///< never null
  Tick overlap = 0;               ///< maximum length of an event
  bool use_tags = false;          ///< time-sorted hits only: the events are the tagged ones
};

struct SliceBuilderSettings {
  SliceGeometry geometry;             ///< includes the margin of the widest events and of dead times, see widest()
  std::vector<WantedEvents> events;   ///< never empty; each is built independently of the others
  std::vector<PayloadTable> payload;  ///< indexed by stream
  bool with_payload = false;          ///< whether hits of any source have payload
  /// StreamFlag bits by source number, or empty: none set. Used by NumberMatch if the definition needs it.
  std::vector<std::uint32_t> stream_flags = {};
  /// Nonzero for live sources, indexed by source number; empty: none. See BuiltSlice::live_hits.
  std::vector<std::uint8_t> live = {};
  std::optional<SortedInput> sorted = std::nullopt;     ///< set: all sources are streams of time-sorted hits
  Tick save_bin_ticks = 0;                              ///< width of the bins of saved histograms
  DetectorPtr detector = std::make_shared<Detector>();  ///< never null
  std::shared_ptr<const HistogramSet> histograms = {};  ///< null: none
  TickRange stretch = kAllTime;                         ///< hits at other times are dropped
};

/// `geometry` with the overlap and the reach of these events.
SliceGeometry geometry_of(SliceGeometry geometry, const WantedEvents& wanted);
/// `geometry` with overlap and reach of the events that need the widest margin around a slice.
SliceGeometry widest(const SliceGeometry& geometry, const std::vector<WantedEvents>& events);

/// Whether the ticks of a slice are below kMostSliceTicks, including its margins and the width `apart` of the time
/// corrections of the stream.
bool fits_a_builder(const SliceGeometry& geometry, Tick apart);

/// Span of the time corrections of each of `n_streams`, indexed by stream; empty if there are none. Each sorted stream
/// holds hits of all sources.
std::vector<OffsetSpan> stream_offsets(const Detector& detector, bool sorted, std::size_t n_streams);

}  // namespace eventloom
