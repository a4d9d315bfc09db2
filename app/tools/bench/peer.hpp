#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace eventloom {

/// Traffic of one rank. A connection is an ordered pair of ranks; each pair has at most one. The arguments of all ranks
/// must match: a rank is among the senders of each of its targets, and message_bytes and queue are the same everywhere.
struct PeerTraffic {
  std::vector<int> targets;         ///< ranks to which this rank sends, served round robin in this order
  std::vector<int> senders;         ///< ranks that send to this one
  std::uint64_t message_bytes = 0;  ///< 1 to INT_MAX
  std::uint32_t queue = 8;          ///< messages in flight per connection, at the sender and at the receiver; 1 or more
  double seconds = 0.1;             ///< time during which a rank starts new messages
};

struct PeerResult {
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t messages_sent = 0;
  double seconds = 0;  ///< time from the common start to the last message received by this rank; 0 if there was none
};

/// Another way to move the traffic of a pattern, for comparison with Eventloom's own exchange.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Collective over the communicator. Establishes every connection with a message, starts all ranks together, and
  /// returns when every message of every rank has been received. Throws std::invalid_argument for invalid traffic,
  /// UserError or std::runtime_error if a connection fails. In that case, abort the other ranks, which wait in vain.
  virtual PeerResult run(const PeerTraffic& traffic) = 0;
};

}  // namespace eventloom
