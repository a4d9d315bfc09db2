#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "io/live/live_feed.hpp"

namespace eventloom {

/// Bounded queue between the receiving and the taking thread, in order. Data are moved, not copied. Memory is allocated
/// in parcels: only the one being filled has unused room.
class FeedQueue {
 public:
  explicit FeedQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The receiving thread. Appends whole stored epoch buffers and the damage between them, which are taken together;
  /// waits while the queue is full, but not for damage alone. False, and nothing is appended, after stop().
  /// `sent`: by the peer, up to and with these, where it counts.
  bool push(std::span<const std::byte> buffers, std::span<const Damage> damage = {},
            std::optional<PeerCount> sent = std::nullopt);
  /// As push(); false, too, where that would wait.
  bool try_push(std::span<const std::byte> buffers, std::span<const Damage> damage,
                std::optional<PeerCount> sent = std::nullopt);
  /// Nothing that begins before `epoch` will follow; may fall where a stream has gone back.
  void complete_to(Epoch epoch);
  /// State of the data held back before the queue: where the stream begins, if known, and one past its last epoch.
  void holds_back(std::optional<Epoch> first_epoch, Epoch seen_end);
  void end();

  /// push() then returns at once and refuses; for the end of a feed that nobody takes from. Any thread.
  void stop();

  /// The taking thread: as LiveFeed::take, one parcel at a time. The memory of `batch` is reused.
  void take(FeedBatch& batch);

 private:
  [[nodiscard]] bool has_room() const { return closed_bytes_ + bytes_of(waiting_.back()) < most_bytes_; }
  static std::size_t bytes_of(const FeedBatch& parcel);
  void append(std::span<const std::byte> buffers, std::span<const Damage> damage, std::optional<PeerCount> sent);
  FeedBatch& parcel_with_room(std::size_t bytes);

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<FeedBatch> waiting_{1};  ///< the last is being filled
  std::size_t closed_bytes_ = 0;      ///< in the parcels before it
  std::vector<std::byte> spare_;
  bool stopped_ = false;
};

}  // namespace eventloom
