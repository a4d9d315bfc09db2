#pragma once

#include "core/mpi/communicator.hpp"
#include "core/mpi/window.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

/// Transport over an MPI window in a passive-target epoch. Construction and destruction are
/// collective over the communicator, which must outlive it.
class MpiRmaTransport final : public Transport {
 public:
  /// `window_bytes`: of this rank's window; may differ between ranks, may be 0.
  MpiRmaTransport(const Communicator& communicator, std::uint64_t window_bytes);

  [[nodiscard]] std::span<std::byte> window() override { return window_.memory(); }
  void put(int rank, std::uint64_t offset, std::span<const std::byte> data) override;
  void flush(int rank) override;
  void progress() override;
  void sync() override;

 private:
  const Communicator& communicator_;
  Window window_;
};

}  // namespace eventloom
