#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "app/tools/bench/waiter.hpp"

namespace eventloom {

struct DuplexSettings {
  std::optional<int> other;   ///< the rank at the other end, or this rank; std::nullopt on ranks that take no part
  std::uint32_t largest = 0;  ///< maximum message size in bytes
  Wait wait = Wait::poll;
};

/// A bidirectional message channel between two ranks, or a rank and itself, over one of several transports compared.
/// Every rank of the communicator has one. Construction and destruction are collective. Not thread-safe.
class Duplex {
 public:
  Duplex(const Duplex&) = delete;
  Duplex& operator=(const Duplex&) = delete;
  virtual ~Duplex() = default;

  /// Sends if there is room now; returns whether it did. `message` may be modified afterwards.
  virtual bool try_send(std::span<const std::byte> message) = 0;
  /// Sends, waiting for room, and returns when the sender knows that the message has reached the other end: its memory,
  /// or with two-sided messages a receive. The other end need not answer, but must poll. If the transport cannot
  /// confirm arrival, returns false and sends no message.
  virtual bool send_complete(std::span<const std::byte> /*message*/) { return false; }
  /// Returns the next message if it has arrived; the view is valid until release().
  virtual std::optional<std::span<const std::byte>> poll() = 0;
  /// Gives the place of the last message back. Call it once after each message.
  virtual void release() = 0;
  /// Waits until nothing that was sent needs this end any more.
  virtual void flush() {}
  /// Whether messages may be lost.
  [[nodiscard]] virtual bool is_lossy() const { return false; }

  /// Waits for room, and sends.
  void send(std::span<const std::byte> message);
  /// Waits for the next message and returns a view that is valid until release().
  std::span<const std::byte> receive();
  /// One step of a wait: lets the transport make progress, then waits as configured.
  void pause() {
    progress();
    waiter_.wait();
  }

 protected:
  explicit Duplex(Wait wait) : waiter_(wait) {}

 private:
  virtual void progress() {}

  Waiter waiter_;
};

}  // namespace eventloom
