#pragma once

#include <mpi.h>

#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/window.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

/// Transport over an MPI window in a passive-target epoch. Construction and destruction are collective over the
/// communicator, which must outlive it.
class MpiRmaTransport final : public Transport {
 public:
  /// `window_bytes`: size of this rank's window; may differ between ranks, may be 0.
  MpiRmaTransport(const Communicator& communicator, std::uint64_t window_bytes);
  ~MpiRmaTransport() override;
  MpiRmaTransport(const MpiRmaTransport&) = delete;
  MpiRmaTransport& operator=(const MpiRmaTransport&) = delete;

  [[nodiscard]] std::span<std::byte> window() override { return window_.memory(); }
  [[nodiscard]] bool is_near(int rank) const override { return near_[static_cast<std::size_t>(rank)] != 0; }
  /// Whether all ranks are near.
  [[nodiscard]] bool all_near() const { return all_near_; }
  void progress() override;
  void sync() override;

 private:
  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override;
  void complete_puts(int rank) override;

  const Communicator& communicator_;
  Window window_;
  std::vector<std::uint8_t> near_;  ///< indexed by rank
  bool all_near_;
  MPI_Request never_ = MPI_REQUEST_NULL;  ///< a receive that no message matches; progress() tests it
};

}  // namespace eventloom
