#pragma once

#include <optional>

#include "app/tools/bench/duplex.hpp"
#include "app/tools/bench/zmq_socket.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// ZeroMQ, PUSH to PULL in each direction. In builds with ZeroMQ.
class ZmqDuplex final : public Duplex {
 public:
  ZmqDuplex(const Communicator& communicator, const DuplexSettings& settings, bool over_tcp);

  bool try_send(std::span<const std::byte> message) override { return push_->send_copy(message); }
  std::optional<std::span<const std::byte>> poll() override {
    return pull_->receive(message_) ? std::optional(message_.bytes()) : std::nullopt;
  }
  void release() override {}

 private:
  ZmqContext context_;
  std::optional<ZmqSocket> pull_;
  std::optional<ZmqSocket> push_;
  ZmqMessage message_;
};

}  // namespace eventloom
