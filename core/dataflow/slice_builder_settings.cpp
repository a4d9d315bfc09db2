#include "core/dataflow/slice_builder_settings.hpp"

#include <algorithm>

#include "core/definitions/hit_key.hpp"

namespace eventloom {

namespace {

OffsetSpan offsets_of(const Detector& detector, std::uint16_t source) {
  OffsetSpan span;
  bool first = true;
  detector.visit(source, [&](std::uint32_t, const ChannelInfo& info) {
    if (first) span = {info.offset, info.offset};
    span.add({info.offset, info.offset});
    first = false;
  });
  return span;
}

}  // namespace

SliceGeometry geometry_of(SliceGeometry geometry, const WantedEvents& wanted) {
  const auto traits = wanted.definition->traits();
  geometry.overlap = wanted.overlap;
  // Hits beyond the overlap may decide whether a cut event has enough.
  geometry.reach = traits.least_span > wanted.overlap ? std::max(traits.reach, traits.least_span) : traits.reach;
  return geometry;
}

SliceGeometry widest(const SliceGeometry& geometry, const std::vector<WantedEvents>& events) {
  auto found = geometry_of(geometry, events.at(0));
  for (const auto& wanted : events) {
    const auto other = geometry_of(geometry, wanted);
    if (other.margin() > found.margin()) found = other;
  }
  return found;
}

bool fits_a_builder(const SliceGeometry& geometry, Tick apart) {
  constexpr Tick kMost(kMostSliceTicks - 1);
  if (geometry.margin() >= kMost / 2 || geometry.epochs_per_slice > kMost.value) return false;
  const Epoch epochs = Epoch(geometry.epochs_per_slice) + 2 * geometry.margin_epochs() + 2;
  const Epoch most = epoch_of(kMost, geometry.base.epoch_ticks);
  return epochs < most && apart < tick_of_epoch(most - epochs, geometry.base.epoch_ticks);
}

std::vector<OffsetSpan> stream_offsets(const Detector& detector, bool sorted, std::size_t n_streams) {
  std::vector<OffsetSpan> spans;
  for (std::size_t s = 0; s < detector.sources(); ++s) {
    spans.push_back(offsets_of(detector, static_cast<std::uint16_t>(s)));
  }
  if (std::ranges::all_of(spans, &OffsetSpan::none)) return {};
  if (sorted) spans.assign(n_streams, total_span(spans));
  return spans;
}

}  // namespace eventloom
