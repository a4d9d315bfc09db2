#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Small two-sided messages between any two ranks (a rank and itself too), for control, not for data:
/// every message is copied. Between two ranks they arrive in the order in which they were sent. Works
/// on a private duplicate of the communicator, so construction and destruction are collective;
/// between them no member blocks. One thread at a time. Throws std::runtime_error when MPI fails.
///
/// All messages must have been received by the time of destruction: the destructor waits for the
/// sends of this rank, and a large one completes only with its receiver.
class MessageChannel {
 public:
  explicit MessageChannel(const Communicator& communicator);
  ~MessageChannel();
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  /// `data` may change or go as soon as this returns. What cannot leave yet waits in memory, without
  /// limit: who sends more than the other side receives must mind that himself.
  void send(int to, std::span<const std::byte> data);
  /// The oldest message that has come in full: its bytes replace `out`, its sender is returned.
  /// Nothing, and `out` as it was, when there is none. Makes MPI progress.
  std::optional<int> receive(std::vector<std::byte>& out);
  /// Takes back the buffers of sends that are complete; send() does so too.
  void progress();

 private:
  [[nodiscard]] std::size_t free_slot();
  bool match();

  MPI_Comm handle_ = MPI_COMM_NULL;
  // By slot: a send and the copy that it reads.
  std::vector<MPI_Request> sends_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<std::size_t> free_;
  std::vector<int> completed_;
  // The message that is being received. One at a time keeps them in order.
  MPI_Request incoming_ = MPI_REQUEST_NULL;
  int sender_ = MPI_ANY_SOURCE;  ///< of that message; MPI_ANY_SOURCE when there is none
  std::vector<std::byte> arriving_;
};

}  // namespace eventloom
