#include "io/live/feed_queue.hpp"

#include <algorithm>

#include "io/epochs/held_buffers.hpp"
#include "io/live/damage_records.hpp"

namespace eventloom {

namespace {

void append_damage(std::vector<Damage>& last, const Damage& damage) {
  const bool too_many = last.size() >= kMostDamage;
  for (std::size_t back = 1; too_many && back <= kDropCauses; ++back) {
    auto& record = last[last.size() - back];
    // The stream may have gone back repeatedly.
    Damage later = damage;
    later.first_epoch = std::max(later.first_epoch, record.first_epoch);
    if (extend(record, later)) return;
  }
  last.push_back(damage);
}

}  // namespace

bool FeedQueue::push(std::span<const std::byte> buffers, std::span<const Damage> damage,
                     std::optional<PeerCount> sent) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopped_ || buffers.empty() || has_room(); });
  if (stopped_) return false;
  append(buffers, damage, sent);
  return true;
}

bool FeedQueue::push_whole(std::vector<std::byte>& buffers, std::span<const Damage> damage) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stopped_ || has_room(); });
  if (stopped_) return false;
  std::swap(empty_parcel().buffers, buffers);
  append({}, damage, std::nullopt);
  return true;
}

bool FeedQueue::try_push(std::span<const std::byte> buffers, std::span<const Damage> damage,
                         std::optional<PeerCount> sent) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || (!buffers.empty() && !has_room())) return false;
  append(buffers, damage, sent);
  return true;
}

void FeedQueue::append(std::span<const std::byte> buffers, std::span<const Damage> damage,
                       std::optional<PeerCount> sent) {
  if (!buffers.empty()) {
    auto& memory = parcel_with_room(buffers.size()).buffers;
    memory.insert(memory.end(), buffers.begin(), buffers.end());
  }
  for (const auto& lost : damage) append_damage(waiting_.back().damage, lost);
  waiting_.back().sent = sent;
}

/// A parcel has kHeldChunkBytes. A batch that does not fit, and is larger than a quarter of this, gets its own parcel.
FeedBatch& FeedQueue::parcel_with_room(std::size_t bytes) {
  const auto has_room = [bytes](const auto& memory) { return memory.capacity() - memory.size() >= bytes; };
  if (has_room(waiting_.back().buffers)) return waiting_.back();
  auto& parcel = empty_parcel();
  if (!has_room(parcel.buffers)) parcel.buffers.reserve(bytes > kHeldChunkBytes / 4 ? bytes : kHeldChunkBytes);
  return parcel;
}

/// Closes the parcel being filled, unless it is empty.
FeedBatch& FeedQueue::empty_parcel() {
  const auto& before = waiting_.back();
  if (before.buffers.empty()) return waiting_.back();
  closed_bytes_ += bytes_of(before);
  FeedBatch next;
  next.complete = before.complete;
  next.first_epoch = before.first_epoch;
  next.seen_end = before.seen_end;
  next.held_up = before.held_up;
  next.sent = before.sent;
  next.buffers = std::move(spare_);
  spare_ = {};
  waiting_.push_back(std::move(next));
  return waiting_.back();
}

void FeedQueue::complete_to(Epoch epoch) {
  const std::lock_guard lock(mutex_);
  waiting_.back().complete = epoch;
}

void FeedQueue::holds_back(std::optional<Epoch> first_epoch, Epoch seen_end) {
  const std::lock_guard lock(mutex_);
  waiting_.back().first_epoch = first_epoch;
  waiting_.back().seen_end = seen_end;
}

void FeedQueue::hold_up(bool held_up) {
  const std::lock_guard lock(mutex_);
  waiting_.back().held_up = held_up;
}

void FeedQueue::end() {
  const std::lock_guard lock(mutex_);
  waiting_.back().ended = true;
}

void FeedQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  room_.notify_all();
}

std::size_t FeedQueue::bytes_of(const FeedBatch& parcel) {
  return parcel.buffers.size() + parcel.damage.size() * sizeof(Damage);
}

void FeedQueue::take(FeedBatch& batch) {
  const std::lock_guard lock(mutex_);
  auto& parcel = waiting_.front();
  const bool closed = waiting_.size() > 1;
  if (closed) closed_bytes_ -= bytes_of(parcel);
  if (batch.buffers.empty()) {
    std::swap(batch.buffers, parcel.buffers);
  } else {
    batch.buffers.insert(batch.buffers.end(), parcel.buffers.begin(), parcel.buffers.end());
  }
  batch.damage.insert(batch.damage.end(), parcel.damage.begin(), parcel.damage.end());
  batch.complete = parcel.complete;
  batch.ended = parcel.ended;
  batch.first_epoch = parcel.first_epoch;
  batch.seen_end = parcel.seen_end;
  batch.held_up = parcel.held_up;
  batch.sent = parcel.sent;
  parcel.clear();
  if (closed) {
    spare_ = std::move(parcel.buffers);
    waiting_.pop_front();
  }
  room_.notify_all();
}

}  // namespace eventloom
