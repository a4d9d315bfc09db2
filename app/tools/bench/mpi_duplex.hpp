#pragma once

#include <mpi.h>

#include <vector>

#include "app/tools/bench/duplex.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Two-sided messages: MPI_Send into receives posted in advance. A sender is at most some thousand messages ahead of
/// the receiver, which reports how far it is.
class MpiDuplex final : public Duplex {
 public:
  MpiDuplex(const Communicator& communicator, const DuplexSettings& settings);
  ~MpiDuplex() override;

  bool try_send(std::span<const std::byte> message) override;
  /// MPI_Ssend: the other end has begun to receive the message.
  bool send_complete(std::span<const std::byte> message) override;
  std::optional<std::span<const std::byte>> poll() override;
  void release() override;
  /// Receives the reports that are due: UCX does not tolerate unreceived messages at finalisation.
  void flush() override;

 private:
  void post(std::size_t place);
  bool take_report();

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int other_ = MPI_PROC_NULL;
  std::size_t largest_;
  std::vector<std::byte> buffers_;
  std::vector<MPI_Request> requests_;  ///< one per buffer, then that of a report; empty without another end
  std::uint64_t sent_ = 0;
  std::uint64_t reported_ = 0;  ///< sent messages that the other end has reported as taken
  std::uint64_t taken_ = 0;
};

}  // namespace eventloom
