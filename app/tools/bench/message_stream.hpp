#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Two-sided messages of one size between ranks, with a fixed number in flight per connection. Buffers are reused and
/// their contents ignored. A reference for the one-sided exchange. Construction and destruction are collective; no
/// other member blocks.
class MessageStream {
 public:
  struct Plan {
    std::vector<int> targets;  ///< ranks, each once; this rank is among their senders
    std::vector<int> senders;
    int message_bytes = 0;    ///< 1 or more, the same on all ranks
    std::uint32_t queue = 0;  ///< 1 or more, the same on all ranks
  };
  struct Progress {
    std::uint64_t messages = 0;  ///< received
    std::uint64_t bytes = 0;
    bool moved = false;  ///< a message was received, or a send completed
  };

  /// Works on a duplicate of the communicator. Sends an empty message over every connection to establish it, then
  /// posts the receives.
  MessageStream(const Communicator& communicator, const Plan& plan);
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Starts sending a message to the target with this index; returns false if its queue is full.
  bool send(std::size_t target);
  /// Ends the connection to this target: call it until it returns true, then send no more.
  bool end(std::size_t target);
  /// Completes sends and receives, and posts new receives. Makes MPI progress.
  Progress advance();
  /// Whether all senders have ended and all sends are complete. Destroy the object only then.
  [[nodiscard]] bool finished() const { return receiving_ == 0 && sending_ == 0; }

 private:
  struct Duplicate {
    explicit Duplicate(MPI_Comm original);
    ~Duplicate();
    Duplicate(const Duplicate&) = delete;
    Duplicate& operator=(const Duplicate&) = delete;
    MPI_Comm handle = MPI_COMM_NULL;
  };
  struct Target {
    int rank = 0;
    std::deque<int> free;          ///< request slots; first in, first out: all buffers take turns
    std::uint32_t marks_left = 0;  ///< end marks not yet started
  };

  void greet();
  void start_send(Target& target, int bytes);
  void post_receive(int slot);
  void advance_sends(Progress& progress);
  void advance_receives(Progress& progress);
  [[nodiscard]] std::byte* buffer(std::vector<std::byte>& pool, int slot) const;
  [[nodiscard]] int connection(int slot) const { return slot / static_cast<int>(plan_.queue); }

  Plan plan_;
  Duplicate duplicate_;
  // Slot numbers: connection * queue + 0 .. queue - 1. Each slot has a request and a buffer.
  std::vector<std::byte> source_;
  std::vector<std::byte> sink_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
  std::vector<Target> targets_;
  std::size_t sending_ = 0;    ///< requests in flight
  std::size_t receiving_ = 0;  ///< slots that have not received their end mark
};

}  // namespace eventloom
