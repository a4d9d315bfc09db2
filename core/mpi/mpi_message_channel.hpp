#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/control/message_channel.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// MessageChannel over MPI, on a private duplicate of the communicator. The destructor waits for this rank's sends; a
/// large one completes only once it is received.
class MpiMessageChannel final : public MessageChannel {
 public:
  explicit MpiMessageChannel(const Communicator& communicator);
  ~MpiMessageChannel() override;

  void send(int to, std::span<const std::byte> data) override;
  std::optional<int> receive(std::vector<std::byte>& out) override;
  void progress() override;

 private:
  [[nodiscard]] std::size_t free_slot();
  bool match();

  MPI_Comm handle_ = MPI_COMM_NULL;
  // Indexed by slot: a send and its copy of the message.
  std::vector<MPI_Request> sends_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::size_t> free_;
  std::vector<int> completed_;
  // The message being received. Receiving one at a time keeps them in order.
  MPI_Request incoming_ = MPI_REQUEST_NULL;
  int sender_ = MPI_ANY_SOURCE;  ///< sender of that message; MPI_ANY_SOURCE if there is none
  std::vector<std::byte> arriving_;
};

}  // namespace eventloom
