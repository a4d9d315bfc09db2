#include "io/live/feed_queue.hpp"

#include <algorithm>

#include "io/live/damage_records.hpp"

namespace eventloom {

bool FeedQueue::push(std::span<const std::byte> buffers) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return stopped_ || waiting_bytes() < most_bytes_; });
  if (stopped_) return false;
  waiting_.buffers.insert(waiting_.buffers.end(), buffers.begin(), buffers.end());
  return true;
}

void FeedQueue::push(const Damage& damage) {
  const std::lock_guard lock(mutex_);
  auto& last = waiting_.damage;
  const bool too_many = last.size() >= kMostDamage;
  for (std::size_t back = 1; too_many && back <= kDropCauses; ++back) {
    if (extend(last[last.size() - back], damage)) return;
  }
  last.push_back(damage);
}

void FeedQueue::complete_to(Epoch epoch) {
  const std::lock_guard lock(mutex_);
  waiting_.complete = std::max(waiting_.complete, epoch);
}

void FeedQueue::end() {
  const std::lock_guard lock(mutex_);
  waiting_.ended = true;
}

void FeedQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  room_.notify_all();
}

bool FeedQueue::has_room() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes() < most_bytes_;
}

std::size_t FeedQueue::waiting_bytes() const {
  return waiting_.buffers.size() + waiting_.damage.size() * sizeof(Damage);
}

void FeedQueue::take(FeedBatch& batch) {
  const std::lock_guard lock(mutex_);
  if (batch.buffers.empty()) {
    std::swap(batch.buffers, waiting_.buffers);
  } else {
    batch.buffers.insert(batch.buffers.end(), waiting_.buffers.begin(), waiting_.buffers.end());
    waiting_.buffers.clear();
  }
  batch.damage.insert(batch.damage.end(), waiting_.damage.begin(), waiting_.damage.end());
  waiting_.damage.clear();
  batch.complete = waiting_.complete;
  batch.ended = waiting_.ended;
  room_.notify_all();
}

}  // namespace eventloom
