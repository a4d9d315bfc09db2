#pragma once

#include <optional>

#include "app/tools/bench/duplex.hpp"
#include "core/exchange/outbox.hpp"
#include "core/mpi/communicator.hpp"
#include "core/ring/ring_consumer.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

/// Our own exchange: an outbox and a ring in each direction, for messages of one chunk.
class RingDuplex final : public Duplex {
 public:
  RingDuplex(const Communicator& communicator, const DuplexSettings& settings);

  bool try_send(std::span<const std::byte> message) override;
  bool send_complete(std::span<const std::byte> message) override;
  std::optional<std::span<const std::byte>> poll() override;
  void release() override;
  void flush() override;

 private:
  void progress() override { transport_.progress(); }

  RingGeometry geometry_;
  MpiRmaTransport transport_;
  std::optional<Outbox> outbox_;
  std::optional<RingConsumer> ring_;
  Message message_;
  std::uint64_t sent_ = 0;
};

}  // namespace eventloom
