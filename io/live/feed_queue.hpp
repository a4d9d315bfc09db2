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

/// Bounded FIFO queue between the receiving and the taking thread. Memory is allocated in parcels, which are moved, not
/// copied. Only the parcel being filled has more unused room than a third of its memory.
class FeedQueue {
 public:
  explicit FeedQueue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Appends whole stored epoch buffers and the damage between them, which are taken together. Waits while the queue is
  /// full, but not for damage alone. After stop(), appends nothing and returns false. Called by the receiving thread.
  /// `sent`: the peer's own count up to and including these, if it counts.
  bool push(std::span<const std::byte> buffers, std::span<const Damage> damage = {},
            std::optional<PeerCount> sent = std::nullopt);
  /// Like push(), but returns false where push() would wait.
  bool try_push(std::span<const std::byte> buffers, std::span<const Damage> damage,
                std::optional<PeerCount> sent = std::nullopt);
  /// Like push(), but takes over the memory of `buffers` instead of copying it, and leaves other memory, empty, in its
  /// place. It becomes a parcel: at least two thirds of it must be used.
  bool push_whole(std::vector<std::byte>& buffers, std::span<const Damage> damage);
  /// States that nothing that begins before `epoch` will follow. `epoch` may decrease if the stream has gone back.
  void complete_to(Epoch epoch);
  /// Describes the data not yet in the queue: the stream's first epoch, if known, and one past its last epoch.
  void holds_back(std::optional<Epoch> first_epoch, Epoch seen_end);
  /// See FeedBatch::held_up.
  void hold_up(bool held_up);
  void end();

  /// Makes push() refuse immediately; ends a feed whose data are no longer taken. May be called by any thread.
  void stop();

  /// Like LiveFeed::take, one parcel at a time; reuses the memory of `batch`. Called by the taking thread.
  void take(FeedBatch& batch);

 private:
  [[nodiscard]] bool has_room() const { return closed_bytes_ + bytes_of(waiting_.back()) < most_bytes_; }
  static std::size_t bytes_of(const FeedBatch& parcel);
  void append(std::span<const std::byte> buffers, std::span<const Damage> damage, std::optional<PeerCount> sent);
  FeedBatch& parcel_with_room(std::size_t bytes);
  FeedBatch& empty_parcel();

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<FeedBatch> waiting_{1};  ///< parcels; the last is being filled
  std::size_t closed_bytes_ = 0;      ///< size of all parcels before the last
  std::vector<std::byte> spare_;
  bool stopped_ = false;
};

}  // namespace eventloom
