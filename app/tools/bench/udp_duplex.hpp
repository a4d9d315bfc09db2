#pragma once

#include <vector>

#include "app/tools/bench/duplex.hpp"
#include "core/mpi/communicator.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

inline constexpr std::uint64_t kLargestDatagram = 65507;

/// Datagrams over loopback, one per message.
class UdpDuplex final : public Duplex {
 public:
  /// Throws UserError on all ranks if there is no port.
  UdpDuplex(const Communicator& communicator, const DuplexSettings& settings);

  bool try_send(std::span<const std::byte> message) override;
  /// Throws std::runtime_error after half a minute without a datagram: one was lost, or the other end has gone.
  std::optional<std::span<const std::byte>> poll() override;
  void release() override {}
  [[nodiscard]] bool is_lossy() const override { return true; }

 private:
  Descriptor socket_;
  std::vector<std::byte> datagram_;
  std::int64_t received_at_;
};

}  // namespace eventloom
