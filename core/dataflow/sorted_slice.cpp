#include "core/dataflow/sorted_slice.hpp"

#include <algorithm>

#include "formats/sorted_hit.hpp"

namespace eventloom {

namespace {

/// A buffer is closed at the end of the epoch in which it reaches this size.
constexpr std::size_t kWordsPerBuffer = 4096;
/// The highest bin number of an H1 marker.
constexpr std::size_t kBinsPerMarker = (1U << 13) - 1;

}  // namespace

void SortedSliceEncoder::encode(const DecodedHits& hits, std::span<const HitKey> keys,
                                std::span<const EventRange> events, const SliceBounds& bounds, bool with_payload,
                                std::vector<std::byte>& out) {
  out.clear();
  hits_ = &hits;
  start_ = bounds.start;
  with_payload_ = with_payload;
  const auto at_tick = [&](Tick tick) {
    const auto at = std::ranges::partition_point(keys, [tick](HitKey key) { return tick_of(key) < tick; });
    return static_cast<std::uint32_t>(at - keys.begin());
  };
  const std::uint32_t begin = at_tick(bounds.slice_begin);
  const std::uint32_t end = at_tick(bounds.slice_end);
  const auto foreign = std::ranges::find_if(events, [begin](const EventRange& e) { return e.begin >= begin; });
  events_ = events.subspan(static_cast<std::size_t>(foreign - events.begin()));
  for (std::uint32_t first = begin; first < end;) {
    const Epoch epoch = epoch_of(tick_of(keys[first]), epoch_ticks_);
    const std::uint32_t next = std::min(end, at_tick(tick_of_epoch(epoch + 1, epoch_ticks_)));
    add_epoch(keys, first, next);
    if (words_.size() >= kWordsPerBuffer) close(out);
    first = next;
  }
  close(out);
}

/// Adds the hits [first, end), all of one epoch.
void SortedSliceEncoder::add_epoch(std::span<const HitKey> keys, std::uint32_t first, std::uint32_t end) {
  const Epoch epoch = epoch_of(start_ + tick_of(keys[first]), epoch_ticks_);
  if (open_.n_hits == 0) open_.first_epoch = epoch;
  open_.n_epochs = static_cast<std::uint32_t>(epoch - open_.first_epoch + 1);
  open_.n_hits += end - first;
  writer_.epoch(epoch);
  add_histogram(keys.subspan(first, end - first), epoch);
  for (std::uint32_t at = first; at < end; ++at) {
    const Tick tick = tick_of(keys[at]);
    if (at == first || tick != tick_of(keys[at - 1]))
      writer_.time(static_cast<std::uint32_t>(tick.value % epoch_ticks_));
    if (!events_.empty() && events_.front().begin == at) {
      const auto& event = events_.front();
      writer_.tag(encode_tag({event.end - event.begin, event.truncated}));
      events_ = events_.subspan(1);
    }
    add_hit(keys[at]);
  }
}

void SortedSliceEncoder::add_histogram(std::span<const HitKey> keys, Epoch epoch) {
  const std::uint64_t bin_of_epoch = tick_of_epoch(epoch, epoch_ticks_) / bin_ticks_;
  std::uint64_t first_bin = 0;
  for (const HitKey key : keys) {
    const std::uint64_t bin = (start_ + tick_of(key)) / bin_ticks_ - bin_of_epoch;
    const bool next = !bins_.empty() && bin == first_bin + bins_.size() && bins_.size() < kBinsPerMarker;
    const bool same = !bins_.empty() && bin + 1 == first_bin + bins_.size();
    if (!next && !same) {
      flush_bins(first_bin);
      first_bin = bin;
    }
    if (same) {
      ++bins_.back();
    } else {
      bins_.push_back(1);
    }
  }
  flush_bins(first_bin);
}

void SortedSliceEncoder::flush_bins(std::uint64_t first_bin) {
  if (bins_.empty()) return;
  writer_.histogram(static_cast<std::uint32_t>(first_bin), bins_);
  bins_.clear();
}

void SortedSliceEncoder::add_hit(HitKey key) {
  const std::uint32_t number = number_of(key);
  const std::uint32_t n = with_payload_ ? hits_->payload_words.data()[number] : 0;
  payload_.assign({n + 1, hits_->source.data()[number]});
  if (n != 0) payload_.insert(payload_.end(), hits_->payload.data()[number], hits_->payload.data()[number] + n);
  writer_.channel(hits_->channel.data()[number], payload_);
  open_.n_payload_words += static_cast<std::uint32_t>(payload_.size());
}

void SortedSliceEncoder::close(std::vector<std::byte>& out) {
  if (open_.n_hits == 0) return;
  writer_.finish();
  open_.n_words = static_cast<std::uint32_t>(words_.size());
  append_stored(open_, words_, out);
  open_ = {};
  words_.clear();
}

}  // namespace eventloom
