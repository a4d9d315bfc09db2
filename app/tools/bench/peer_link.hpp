#pragma once

#include <cstddef>
#include <cstdint>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The connections of one rank while a peer runs. No member blocks.
class PeerLink {
 public:
  PeerLink() = default;
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;
  virtual ~PeerLink() = default;

  /// Starts sending a message to the target with this index in PeerTraffic::targets; false: no room now.
  virtual bool send(std::size_t target) = 0;
  /// Signals the target that no more messages follow; false: no room now, retry.
  virtual bool end(std::size_t target) = 0;

  struct Progress {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    bool moved = false;  ///< also true if only room to send was freed
  };
  /// Takes received messages and frees sent ones, a bounded number per call.
  virtual Progress advance() = 0;
  /// Whether all senders have ended and no sent message still needs this rank's progress.
  [[nodiscard]] virtual bool finished() const = 0;
};

/// Throws std::invalid_argument if message_bytes or queue is out of range.
void check(const PeerTraffic& traffic);

/// Collective. Runs the traffic from the common start until all ranks have received everything.
PeerResult drive(PeerLink& link, const PeerTraffic& traffic, const Communicator& communicator);

}  // namespace eventloom
