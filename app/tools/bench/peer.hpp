#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace eventloom {

/// Traffic of one rank: a connection is an ordered pair of ranks, at most one for each pair. The arguments of all ranks
/// must match: the targets of one name it among their senders, and all have the same message_bytes and queue.
struct PeerTraffic {
  std::vector<int> targets;         ///< ranks to which this rank sends, served in this order, round robin
  std::vector<int> senders;         ///< ranks that send to this one
  std::uint64_t message_bytes = 0;  ///< 1 to INT_MAX
  std::uint32_t queue = 8;          ///< messages under way per connection, at the sender and at the receiver; 1 or more
  double seconds = 0.1;             ///< how long a rank begins new messages
};

struct PeerResult {
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t messages_sent = 0;
  double seconds = 0;  ///< from the common start to the last message that this rank received; 0 without any
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
  /// UserError or std::runtime_error when a connection fails: the other ranks then wait in vain, abort them.
  virtual PeerResult run(const PeerTraffic& traffic) = 0;
};

}  // namespace eventloom
