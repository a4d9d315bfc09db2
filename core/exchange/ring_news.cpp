#include "core/exchange/ring_news.hpp"

#include <algorithm>

namespace eventloom {

RingNews::RingNews(std::span<const RingConsumer> rings) {
  for (const auto& ring : rings) {
    window_ = &ring.window();
    places_.push_back({ring.descriptors_begin(), ring.descriptors_end(), all_.size()});
    all_.push_back(all_.size());
  }
  std::ranges::sort(places_, {}, &Place::begin);
}

std::span<const std::size_t> RingNews::changed() {
  if (window_ == nullptr) return {};
  const auto written = window_->written_since(mark_);
  if (!written) {
    again_.clear();
    return all_;
  }
  changed_.swap(again_);
  again_.clear();
  for (const auto offset : *written) add_ring_at(offset);
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return changed_;
}

void RingNews::add_ring_at(std::uint64_t offset) {
  const auto behind = std::ranges::upper_bound(places_, offset, {}, &Place::begin);
  if (behind == places_.begin()) return;
  const auto& place = *std::prev(behind);
  if (offset < place.end) changed_.push_back(place.ring);
}

}  // namespace eventloom
