#include "core/definitions/cluster.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/definitions/connected_hits.hpp"
#include "core/definitions/saturating.hpp"
#include "core/runtime/format.hpp"
#include "formats/pixel.hpp"

namespace eventloom {

namespace {

/// Parses a distance to metres: "0.5", "3mm", "2.5cm", "4m".
double parse_distance(std::string_view text) {
  constexpr auto kExpected = "expected a distance, in metres or with a unit (mm, cm, m), or in pixels";
  const auto end = std::min(text.find_last_of("0123456789.") + 1, text.size());
  const auto value = parse_decimal(text.substr(0, end));
  const auto unit = text.substr(end);
  if (!value || (!unit.empty() && unit != "mm" && unit != "cm" && unit != "m")) throw std::invalid_argument(kExpected);
  return to_double(*value) * (unit == "mm" ? 1e-3 : unit == "cm" ? 1e-2 : 1);
}

}  // namespace

Cluster::Cluster(const DefinitionValues& values)
    : near_{values.duration(0), parse_part(values.text(1), parse_distance), false},
      min_hits_(values.above_0(values.count_or(1, 2), 2, "M")),
      detector_(values.detector()),
      pixels_(!detector_->has_positions()),
      positions_(*detector_, [](const ChannelInfo& info) { return info.position ? &*info.position : nullptr; }) {
  near_.pixels = pixels_;
  if (values.text(1).ends_with('m')) length_ = values.text(1);
}

std::string Cluster::text() const { return fmt::format("cluster:{},{},{}", near_.time.value, near_.radius, min_hits_); }

DefinitionTraits Cluster::traits() const {
  return {.reach = near_.time,
          .longest_length = near_.time,
          .least_span = saturating_product(near_.time, min_hits_ - 1),
          .bin_ticks = std::max<Tick>(near_.time, 1),
          .needs_channels = true,
          .needs_positions = true,
          .length_in_metres = length_,
          .finds_runs = false};
}

/// Each hit without a position lies in a separate plane.
std::vector<PlacedKey> Cluster::place(const SortedHits& hits) const {
  const auto of_sources = positions_.of_sources();
  std::vector<PlacedKey> placed(hits.keys.size());
  for (std::uint32_t i = 0; i < hits.keys.size(); ++i) {
    const auto number = number_of(hits.keys[i]);
    const std::uint16_t source = hits.source[number];
    const std::uint32_t channel = hits.channel[number];
    auto& hit = placed[i];
    hit = {tick_of(hits.keys[i]), kAlonePlane | i, {}};
    if (pixels_) {
      const auto pixel = pixel_of(channel);
      if (!pixel) continue;
      hit.plane = std::uint64_t{source} << 12 | pixel->chip;
      hit.at = {static_cast<double>(pixel->x), static_cast<double>(pixel->y), 0};
    } else if (source < of_sources.size() && of_sources[source][channel] != nullptr) {
      hit.plane = 0;
      hit.at = *of_sources[source][channel];
    }
  }
  return placed;
}

void Cluster::find(const SortedHits& hits, EventList& events) const {
  const auto placed = place(hits);
  const auto sets = connected_sets(placed, near_, events.overlap(), min_hits_);
  std::vector<HitKey> list;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    list.clear();
    for (const auto hit : sets[s]) list.push_back(hits.keys[hit]);
    if (!events.add_list(list)) return;
  }
}

}  // namespace eventloom
