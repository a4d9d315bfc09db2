#include "core/dataflow/hit_histograms.hpp"

#include <array>

namespace eventloom {

HitHistograms::HitHistograms(std::shared_ptr<const HistogramSet> set, bool with_payload)
    : set_(std::move(set)), with_payload_(with_payload) {
  if (set_->has_any(true)) place_.resize(set_->cells());
}

std::span<const FilledCell> HitHistograms::fill(const SliceHits& slice) {
  for (const auto& filled : filled_) place_[filled.cell] = 0;
  filled_.clear();
  if (place_.empty()) return filled_;
  const auto& hits = slice.decoded;
  for (const HitKey key : slice.keys) {
    const Tick tick = tick_of(key);
    if (tick < slice.bounds.slice_begin || tick >= slice.bounds.slice_end) continue;
    const auto number = number_of(key);
    const Tick time = slice.bounds.start + tick;
    EventHits hit{.time = time,
                  .times = std::span(&time, 1),
                  .channels = std::span(hits.channel.data() + number, 1),
                  .sources = std::span(hits.source.data() + number, 1)};
    if (with_payload_) {
      hit.payload_words = std::span(hits.payload_words.data() + number, 1);
      hit.payload = std::span(hits.payload.data()[number], hit.payload_words[0]);
    }
    add_hit(hit);
  }
  return filled_;
}

void HitHistograms::add_hit(const EventHits& hit) {
  using OfAxis = HistogramAxis::Quantity;
  const auto& measure = set_->measure();
  for (std::size_t i = 0; i < set_->specs().size(); ++i) {
    const auto& spec = set_->specs()[i];
    if (!spec.of_all_hits) continue;
    const auto& wanted = spec.hits.empty() ? std::nullopt : spec.hits.front();
    if (wanted && !measure.includes(*wanted, hit.sources[0], hit.channels[0], hit.payload)) continue;
    if (spec.condition && !measure.holds(*spec.condition, hit)) continue;
    std::array<double, 2> at{};
    for (std::size_t a = 0; a < spec.axes.size(); ++a) {
      const auto& axis = spec.axes[a];
      if (axis.quantity == OfAxis::value) at[a] = measure.value_of(hit.sources[0], hit.channels[0], hit.payload);
      if (axis.quantity == OfAxis::channel) at[a] = hit.channels[0];
      if (axis.quantity == OfAxis::time) at[a] = set_->on_axis(axis, static_cast<double>(hit.time.value));
    }
    if (const auto cell = set_->cell(i, std::span(at).first(spec.axes.size()))) count(*cell);
  }
}

void HitHistograms::count(std::uint32_t cell) {
  auto& place = place_[cell];
  if (place == 0) {
    filled_.push_back({cell, 0});
    place = static_cast<std::uint32_t>(filled_.size());
  }
  ++filled_[place - 1].count;
}

}  // namespace eventloom
