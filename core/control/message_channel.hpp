#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// Small two-sided messages between any two ranks (a rank and itself too), for control, not for data:
/// every message is copied. Between two ranks they arrive in the order in which they were sent. Making
/// and destroying a channel is collective; between them no member blocks. One thread at a time. Throws
/// std::runtime_error when the ranks cannot reach each other.
///
/// All messages must have been received by the time of destruction.
class MessageChannel {
 public:
  MessageChannel() = default;
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;
  virtual ~MessageChannel() = default;

  /// `data` may change or go as soon as this returns. What cannot leave yet waits in memory, without
  /// limit: who sends more than the other side receives must mind that himself.
  virtual void send(int to, std::span<const std::byte> data) = 0;
  /// The oldest message that has come in full: its bytes replace `out`, its sender is returned.
  /// Nothing, and `out` as it was, when there is none. Makes progress for the others.
  virtual std::optional<int> receive(std::vector<std::byte>& out) = 0;
  /// Takes back the memory of messages that have left; send() does so too.
  virtual void progress() = 0;
};

}  // namespace eventloom
