#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Two-sided messages between ranks, with a fixed number in flight per connection. A reference for the one-sided
/// exchange. Construction and destruction are collective; no other member blocks.
class MessageStream {
 public:
  struct Plan {
    std::vector<int> targets;  ///< ranks, each once; this rank is among their senders
    std::vector<int> senders;
    int largest = 0;          ///< bytes of the largest message, 1 or more, the same on all ranks
    std::uint32_t queue = 0;  ///< 1 or more, the same on all ranks
  };
  struct Received {
    std::size_t sender = 0;    ///< index in Plan::senders
    std::uint64_t number = 0;  ///< the message's place among all of its connection
    std::span<const std::byte> message;
  };

  /// Works on a duplicate of the communicator. Sends an empty message over every connection to establish it, then
  /// posts the receives.
  MessageStream(const Communicator& communicator, const Plan& plan);
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Starts sending a message, not empty, to the target with this index; returns false if its queue is full. The bytes
  /// must stay valid until finished().
  bool send(std::size_t target, std::span<const std::byte> message);
  /// Ends the connection to this target: call it until it returns true, then send no more.
  bool end(std::size_t target);
  /// Completes sends and receives, passes each received message on, and posts new receives. Makes MPI progress. Returns
  /// whether any send or receive has completed.
  bool advance(const std::function<void(const Received&)>& take);
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
    std::deque<int> free;          ///< request slots
    std::uint32_t marks_left = 0;  ///< end marks not yet started
  };

  void greet();
  void start_send(Target& target, std::span<const std::byte> message);
  void post_receive(int slot);
  bool advance_sends();
  bool advance_receives(const std::function<void(const Received&)>& take);
  [[nodiscard]] std::byte* buffer(int slot);
  [[nodiscard]] int connection(int slot) const { return slot / static_cast<int>(plan_.queue); }

  Plan plan_;
  Duplicate duplicate_;
  // Slot numbers: connection * queue + 0 .. queue - 1. Each slot has a request, and to receive also a buffer.
  std::vector<std::byte> sink_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  std::vector<std::uint64_t> numbers_;  ///< the message that each receive slot gets: receives match in their order
  std::vector<std::uint64_t> posted_;   ///< receives posted so far, per sender
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
  std::vector<Target> targets_;
  std::size_t sending_ = 0;    ///< requests in flight
  std::size_t receiving_ = 0;  ///< slots that have not received their end mark
};

}  // namespace eventloom
