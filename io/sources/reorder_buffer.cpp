#include "io/sources/reorder_buffer.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/runtime/error.hpp"

namespace eventloom {

ReorderBuffer::ReorderBuffer(HitReader& reader, std::size_t capacity)
    : reader_(reader), capacity_(capacity), payload_words_(reader.header().payload.words[0]) {}

bool ReorderBuffer::next(Hit& hit) {
  if (used_ == ready_) refill();
  if (used_ == ready_) return false;
  const std::size_t i = order_[used_++];
  hit.time = hits_.time[i];
  hit.channel = hits_.channel[i];
  hit.payload = std::span(hits_.payload).subspan(i * payload_words_, payload_words_);
  last_ = hit.time;
  any_ = true;
  return true;
}

void ReorderBuffer::refill() {
  drop_used();
  read_more();
  sort();
  ready_ = ended_ ? order_.size() : order_.size() - std::min(order_.size(), capacity_);
}

/// Keeps what has not been given out, in the order of recording.
void ReorderBuffer::drop_used() {
  std::vector<std::uint32_t> rest(order_.begin() + static_cast<std::ptrdiff_t>(used_), order_.end());
  std::ranges::sort(rest);
  for (std::size_t to = 0; to < rest.size(); ++to) {
    const std::size_t from = rest[to];
    hits_.time[to] = hits_.time[from];
    hits_.channel[to] = hits_.channel[from];
    const auto payload = hits_.payload.begin() + static_cast<std::ptrdiff_t>(from * payload_words_);
    std::copy_n(payload, payload_words_, hits_.payload.begin() + static_cast<std::ptrdiff_t>(to * payload_words_));
  }
  hits_.time.resize(rest.size());
  hits_.channel.resize(rest.size());
  hits_.payload.resize(rest.size() * payload_words_);
  used_ = ready_ = 0;
}

void ReorderBuffer::read_more() {
  while (!ended_ && hits_.size() < 2 * capacity_) {
    if (!reader_.read(block_)) {
      ended_ = true;
      return;
    }
    if (any_) require_mendable();
    hits_.time.insert(hits_.time.end(), block_.time.begin(), block_.time.end());
    hits_.channel.insert(hits_.channel.end(), block_.channel.begin(), block_.channel.end());
    hits_.payload.insert(hits_.payload.end(), block_.payload.begin(), block_.payload.end());
    read_ += block_.size();
  }
}

void ReorderBuffer::require_mendable() const {
  const auto late = std::ranges::find_if(block_.time, [&](Tick time) { return time < last_; });
  if (late == block_.time.end()) return;
  const auto number = read_ + static_cast<std::uint64_t>(late - block_.time.begin()) + 1;
  throw UserError("'" + reader_.name() + "': hit number " + std::to_string(number) + " at tick " +
                  std::to_string(*late) + " lies " + std::to_string(last_ - *late) +
                  " ticks before hits that are already sent; it comes more than " + std::to_string(capacity_) +
                  " hits too late: raise 'reorder=' in the source's URI");
}

void ReorderBuffer::sort() {
  order_.resize(hits_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  if (std::ranges::is_sorted(hits_.time)) return;
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return hits_.time[i]; });
}

}  // namespace eventloom
