#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exchange/outbox.hpp"
#include "core/mpi/communicator.hpp"
#include "core/ring/ring_consumer.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

/// How a rank waits for a message.
enum class Wait {
  poll,   ///< polls again at once
  yield,  ///< yields its core between polls
  sleep,  ///< sleeps some microseconds between polls
};
std::vector<std::string> wait_names();
/// Throws std::invalid_argument, which lists the names.
Wait parse_wait(const std::string& name);

/// Two ranks, or a rank and itself, joined by a ring in each direction, for messages of one chunk. Every rank of the
/// communicator has one. Construction and destruction are collective.
class Duplex {
 public:
  /// `peer`: the rank at the other end; std::nullopt on ranks that take no part. `largest`: maximum
  /// message size in bytes.
  Duplex(const Communicator& communicator, std::optional<int> peer, std::uint32_t largest, Wait wait);

  /// Waits for room, sends, and returns as soon as `message` may be modified.
  void send(std::span<const std::byte> message);
  /// Sends if there is room now; returns whether it did.
  bool try_send(std::span<const std::byte> message);
  /// Waits for the next message and returns a view that is valid until release().
  std::span<const std::byte> receive();
  /// Returns the next message if it has arrived; the view is valid until release().
  std::optional<std::span<const std::byte>> poll();
  void release();
  /// One step of a wait: lets the transport make progress, then yields or sleeps as configured.
  void pause();
  void flush();

 private:
  [[nodiscard]] static RingGeometry geometry_for(std::uint32_t largest);

  RingGeometry geometry_;
  MpiRmaTransport transport_;
  Wait wait_;
  std::optional<Outbox> outbox_;
  std::optional<RingConsumer> ring_;
  Message message_;
  std::uint64_t sent_ = 0;
};

}  // namespace eventloom
