#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>

#include "io/live/live_feed.hpp"

namespace eventloom {

/// Between the thread that receives and the one that takes: bounded, in order, and what is taken is moved
/// and not copied.
class FeedQueue {
 public:
  explicit FeedQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The receiving thread. Appends whole stored epoch buffers; waits while the queue is full. False, and
  /// nothing is appended, when stop() has been called meanwhile.
  bool push(std::span<const std::byte> buffers);
  void push(const Damage& damage);
  /// Nothing that begins before `epoch` will follow.
  void complete_to(Epoch epoch);
  void end();

  /// push() waits no longer and refuses; for the end of a feed that nobody takes from. Any thread.
  void stop();
  /// Room for more. Any thread.
  [[nodiscard]] bool has_room() const;

  /// The taking thread: as LiveFeed::take.
  void take(FeedBatch& batch);

 private:
  [[nodiscard]] std::size_t waiting_bytes() const;

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  FeedBatch waiting_;
  bool stopped_ = false;
};

}  // namespace eventloom
