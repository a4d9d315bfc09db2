#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// Small two-sided messages between any two ranks (also from a rank to itself), for control, not for data: every
/// message is copied. Messages between two ranks arrive in the order in which they were sent. Construction and
/// destruction are collective; no member blocks in between. Not thread-safe. Throws std::runtime_error if the ranks
/// cannot reach each other.
///
/// All messages must have been received before destruction.
class MessageChannel {
 public:
  MessageChannel() = default;
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;
  virtual ~MessageChannel() = default;

  /// `data` may change or be freed once this returns. Messages that cannot leave yet are kept in memory, without limit:
  /// the caller must not send more than the other side receives.
  virtual void send(int to, std::span<const std::byte> data) = 0;
  /// Receives the oldest complete message: its bytes replace `out`, and its sender is returned. Without one, returns
  /// std::nullopt and leaves `out` unchanged. Makes progress for the other ranks.
  virtual std::optional<int> receive(std::vector<std::byte>& out) = 0;
  /// Frees the memory of messages that have left, as does send().
  virtual void progress() = 0;
};

}  // namespace eventloom
