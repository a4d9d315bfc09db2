#include "io/recorded/reorder_buffer.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

std::size_t bytes_of(const HitBlock& block) {
  constexpr std::size_t kHitBytes = sizeof(Tick) + 2 * sizeof(std::uint32_t);
  return block.size() * kHitBytes + block.payload.size() * sizeof(std::uint32_t);
}

}  // namespace

ReorderBuffer::ReorderBuffer(std::string name, std::size_t capacity) : name_(std::move(name)), capacity_(capacity) {}

bool ReorderBuffer::next(Hit& hit) {
  if (used_ == ready_ && !sort_held()) return false;
  const Entry& entry = entries_[used_++];
  const HitBlock& block = block_of(entry);
  hit.time = entry.time;
  hit.channel = block.channel[entry.item];
  hit.payload = block.payload_of(entry.item);
  last_ = hit.time;
  any_ = true;
  return true;
}

/// Sorts the hits held once there are enough to deliver some.
bool ReorderBuffer::sort_held() {
  const std::size_t held = waiting();
  if (ended_ ? held == 0 : held < 2 * capacity_ && !released_) return false;
  drop_used();
  if (!std::ranges::is_sorted(entries_, {}, &Entry::time)) std::ranges::stable_sort(entries_, {}, &Entry::time);
  ready_ = ended_ ? entries_.size() : entries_.size() - std::min(entries_.size(), capacity_);
  if (released_) {
    const auto waits = [this](const Entry& entry) { return static_cast<std::int32_t>(entry.block - *released_) >= 0; };
    std::size_t end = entries_.size();
    while (end > ready_ && waits(entries_[end - 1])) --end;
    ready_ = end;
    released_.reset();
  }
  return ready_ != 0;
}

void ReorderBuffer::release(std::uint32_t blocks) { released_ = blocks; }

/// Empty blocks become spares. The others stay in the order of time: what is pushed later was recorded later, so a
/// stable sort keeps equal times in the order of recording.
void ReorderBuffer::drop_used() {
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = ready_ = 0;
  auto keep = static_cast<std::uint32_t>(blocks_.size());
  for (const Entry& entry : entries_) keep = std::min(keep, entry.block - first_block_);
  for (std::uint32_t i = 0; i < keep; ++i) {
    held_bytes_ -= bytes_of(blocks_.front());
    spares_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }
  first_block_ += keep;
}

HitBlock ReorderBuffer::spare() {
  if (used_ == ready_) drop_used();
  if (spares_.empty()) return {};
  HitBlock block = std::move(spares_.back());
  spares_.pop_back();
  block.clear();
  return block;
}

void ReorderBuffer::push(HitBlock block) {
  require_sortable(block);
  const auto number = first_block_ + static_cast<std::uint32_t>(blocks_.size());
  for (std::uint32_t item = 0; item < block.size(); ++item) entries_.push_back({block.time[item], number, item});
  pushed_ += block.size();
  held_bytes_ += bytes_of(block);
  blocks_.push_back(std::move(block));
}

void ReorderBuffer::require_sortable(const HitBlock& block) const {
  if (!any_) return;
  const auto late = std::ranges::find_if(block.time, [&](Tick time) { return time < last_; });
  if (late == block.time.end()) return;
  const auto more = std::min<std::uint64_t>(std::max<std::uint64_t>(10 * capacity_, 1000), kMaxReorderHits);
  const auto number = pushed_ + static_cast<std::uint64_t>(late - block.time.begin()) + 1;
  throw UserError("'" + name_ + "': hit number " + std::to_string(number) + " at tick " + std::to_string(*late) +
                  " lies " + std::to_string(last_ - *late) +
                  " ticks before hits that were already sent; it comes more than " + std::to_string(capacity_) +
                  " hits too late: add ?reorder=" + std::to_string(more) +
                  " to the source's URI, with & after other keys");
}

}  // namespace eventloom
