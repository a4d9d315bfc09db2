#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/control/message_channel.hpp"
#include "core/mpi/communicator.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {

/// A window for credits and notes. Puts to ranks of the same host go through an MPI window; those to other hosts are
/// sent as messages, which the receiver copies into its window in progress(). Over TCP all MPI windows of two ranks
/// share one connection, on which a credit would wait behind all data going the same way; messages have their own.
///
/// Messages are copied, and arrive in the order in which they were sent. So after a put to another host its source may
/// change, and its place may be put to again: a flush does nothing.
class MpiControlWindow final : public Transport {
 public:
  /// Collective, as is the destruction; see MpiRmaTransport.
  MpiControlWindow(const Communicator& communicator, std::uint64_t window_bytes);
  ~MpiControlWindow() override;
  MpiControlWindow(const MpiControlWindow&) = delete;
  MpiControlWindow& operator=(const MpiControlWindow&) = delete;

  [[nodiscard]] std::span<std::byte> window() override { return near_.window(); }
  [[nodiscard]] bool is_near(int rank) const override { return near_.is_near(rank); }
  void progress() override;
  void sync() override { near_.sync(); }

 private:
  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override;
  void complete_puts(int rank) override;
  void receive_rest();

  const Communicator& communicator_;
  MpiRmaTransport near_;
  std::unique_ptr<MessageChannel> far_;  ///< nullptr if all ranks are on one host
  std::vector<std::byte> message_;
  std::vector<std::uint64_t> sent_;  ///< messages, by rank
  std::uint64_t received_ = 0;       ///< messages
};

}  // namespace eventloom
