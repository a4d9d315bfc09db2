#pragma once

#include <cstddef>
#include <cstdint>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The connections of one rank while a peer runs; no member blocks.
class PeerLink {
 public:
  PeerLink() = default;
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;
  virtual ~PeerLink() = default;

  /// Begins a message to the target of this index in PeerTraffic::targets; false: no room now.
  virtual bool send(std::size_t target) = 0;
  /// Tells this target that no more messages follow; false: no room now, retry.
  virtual bool end(std::size_t target) = 0;

  struct Progress {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    bool moved = false;  ///< true also when only room to send was freed
  };
  /// Takes messages received and frees messages sent, a bounded number.
  virtual Progress advance() = 0;
  /// Whether all senders have ended and no message sent still needs this rank's help.
  [[nodiscard]] virtual bool finished() const = 0;
};

/// Throws std::invalid_argument for message_bytes or queue out of range.
void check(const PeerTraffic& traffic);

/// Collective: from the common start until all ranks have received everything.
PeerResult drive(PeerLink& link, const PeerTraffic& traffic, const Communicator& communicator);

}  // namespace eventloom
