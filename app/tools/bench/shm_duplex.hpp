#pragma once

#include <optional>

#include "app/tools/bench/duplex.hpp"
#include "app/tools/bench/shm_ring.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// A ring in shared memory in each direction, see ShmRing.
class ShmDuplex final : public Duplex {
 public:
  /// Throws UserError on all ranks if there is not enough shared memory.
  ShmDuplex(const Communicator& communicator, const DuplexSettings& settings);

  bool try_send(std::span<const std::byte> message) override { return sending_->try_send(message); }
  bool send_complete(std::span<const std::byte> message) override;
  std::optional<std::span<const std::byte>> poll() override { return receiving_->poll(); }
  void release() override { receiving_->release(); }

 private:
  std::optional<ShmRing> receiving_;
  std::optional<ShmRing> sending_;
};

}  // namespace eventloom
