#include "io/recorded/reorder_buffer.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

std::size_t bytes_of(const HitBlock& block) {
  constexpr std::size_t kHitBytes = sizeof(Tick) + 2 * sizeof(std::uint32_t);
  return block.size() * kHitBytes + block.payload.size() * sizeof(std::uint32_t);
}

}  // namespace

ReorderBuffer::ReorderBuffer(std::string name, ReorderLimits limits, std::uint64_t tick_ps)
    : name_(std::move(name)), limits_(limits), tick_ps_(tick_ps) {}

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

/// Whether enough hits are held for sorting: twice as many as must wait, so that hits are sorted in large
/// portions, or few enough that sorting takes no time.
bool ReorderBuffer::enough_held() const {
  constexpr std::size_t kFew = 1024;
  if (ended_ || waiting() == 0) return waiting() != 0 || released_;
  const Tick spanned = newest_ - std::min(newest_, entries_[used_].time);
  const Tick enough = waiting() <= kFew ? spanned : spanned / 2;
  return waiting() >= 2 * limits_.hits || enough > limits_.span || released_;
}

/// Number of sorted entries that no later hit can precede.
std::size_t ReorderBuffer::settled() const {
  if (ended_) return entries_.size();
  const std::size_t by_hits = entries_.size() - std::min(entries_.size(), limits_.hits);
  if (newest_ <= limits_.span) return by_hits;
  const auto waits = std::ranges::upper_bound(entries_, newest_ - limits_.span, {}, &Entry::time);
  return std::max(by_hits, static_cast<std::size_t>(waits - entries_.begin()));
}

/// Sorts the held hits if there are enough. Returns whether some can be delivered.
bool ReorderBuffer::sort_held() {
  if (!enough_held()) return false;
  drop_used();
  sort_entries();
  ready_ = settled();
  if (released_) {
    const auto waits = [this](const Entry& entry) { return static_cast<std::int32_t>(entry.block - *released_) >= 0; };
    std::size_t end = entries_.size();
    while (end > ready_ && waits(entries_[end - 1])) --end;
    ready_ = end;
    released_.reset();
  }
  return ready_ != 0;
}

/// Sorts the entries pushed since the last call, and merges them with those of the sorted ones that are later than any.
void ReorderBuffer::sort_entries() {
  const auto by_time = [](const Entry& a, const Entry& b) { return a.time < b.time; };
  const auto pushed = entries_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  sorted_ = entries_.size();
  if (pushed == entries_.end()) return;
  if (!std::is_sorted(pushed, entries_.end(), by_time)) std::stable_sort(pushed, entries_.end(), by_time);
  std::inplace_merge(std::upper_bound(entries_.begin(), pushed, *pushed, by_time), pushed, entries_.end(), by_time);
}

void ReorderBuffer::release(std::uint32_t blocks) { released_ = blocks; }

/// Removes delivered entries; blocks without entries become spares. Remaining entries stay sorted, and hits pushed
/// later were recorded later, so a stable sort keeps equal times in the order of recording.
void ReorderBuffer::drop_used() {
  if (used_ == 0) return;  // called for every block, while the search below takes time
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(used_));
  sorted_ -= used_;
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
  if (block.size() != 0) newest_ = std::max(newest_, std::ranges::max(block.time));
  pushed_ += block.size();
  held_bytes_ += bytes_of(block);
  blocks_.push_back(std::move(block));
}

void ReorderBuffer::require_sortable(const HitBlock& block) const {
  if (!any_) return;
  const auto late = std::ranges::find_if(block.time, [&](Tick time) { return time < last_; });
  if (late == block.time.end()) return;
  const auto number = pushed_ + static_cast<std::uint64_t>(late - block.time.begin()) + 1;
  const Tick newest = std::max(newest_, *std::max_element(block.time.begin(), late + 1));
  const Tick behind = newest - *late;
  const auto text = tick_ps_ == 0 ? std::to_string(behind.value) : duration_text(behind, tick_ps_);
  throw UserError("'" + name_ + "': hit number " + std::to_string(number) + " at tick " + std::to_string(late->value) +
                  " lies " + text + " before an earlier one, more than " + std::to_string(limits_.hits) +
                  " hits away: add ?reorder=" + (tick_ps_ == 0 ? std::to_string(10 * limits_.hits) : text) +
                  " to the source's URI, with & after other keys");
}

}  // namespace eventloom
