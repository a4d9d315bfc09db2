#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/detector/detector.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/offset_span.hpp"

namespace eventloom {

/// How streams of time-sorted hits (formats/sorted_hit.hpp) are read back.
struct SortedInput {
  std::uint32_t n_sources = 0;  ///< of the run that sorted them
};

/// What to search for.
struct WantedEvents {
  EventDefinitionPtr definition;  ///< never null
  Tick overlap = 0;               ///< maximum length of an event
  bool use_tags = false;          ///< in time-sorted hits: the events are the tagged ones
};

struct SliceBuilderSettings {
  SliceGeometry geometry;             ///< with the margin of the widest events, see widest()
  std::vector<WantedEvents> events;   ///< never empty; each is built as if it were the only one
  std::vector<PayloadTable> payload;  ///< by number of the stream
  bool with_payload = false;          ///< whether hits of any source have payload
  /// StreamFlag bits by source number, or empty: none. For NumberMatch, where the definition needs it.
  std::vector<std::uint32_t> stream_flags = {};
  /// Not 0 for live sources, by number, or empty: none. See BuiltSlice::live_hits.
  std::vector<std::uint8_t> live = {};
  std::optional<SortedInput> sorted = std::nullopt;     ///< set: all sources are streams of time-sorted hits
  Tick save_bin_ticks = 0;                              ///< width of the histograms' bins in what is saved
  DetectorPtr detector = std::make_shared<Detector>();  ///< never null
};

/// `geometry` with the overlap and the reach of these events.
SliceGeometry geometry_of(SliceGeometry geometry, const WantedEvents& wanted);
/// `geometry` with those of the events that need the longest stretch around a slice.
SliceGeometry widest(const SliceGeometry& geometry, const std::vector<WantedEvents>& events);

/// Builders count the ticks that they see of a stream in 32 bits: whether those of a slice fit, with its margins and
/// the width `apart` of the corrections to the stream's times.
bool fits_a_builder(const SliceGeometry& geometry, Tick apart);

/// Of the corrections to the times of each of `n_streams`, by number; empty when there are none. Each sorted stream
/// holds hits of all sources.
std::vector<OffsetSpan> stream_offsets(const Detector& detector, bool sorted, std::size_t n_streams);

}  // namespace eventloom
