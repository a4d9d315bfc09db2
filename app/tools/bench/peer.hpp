#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/bench/sink_role.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

class PeerLink;

/// Traffic of one rank. A connection is an ordered pair of ranks; each pair has at most one. The arguments of all ranks
/// must match: a rank is among the senders of each of its targets, and all other members are the same everywhere.
struct PeerTraffic {
  std::vector<int> targets;         ///< ranks to which this rank sends, served round robin in this order
  std::vector<int> senders;         ///< ranks that send to this one
  std::uint64_t message_bytes = 0;  ///< 1 or more; with the spread at most INT_MAX
  std::uint32_t queue = 8;          ///< messages in flight per connection, at the sender and at the receiver; 1 or more
  double seconds = 0.1;             ///< time during which a rank starts new messages; it starts at least one
  double spread = 0;                ///< spread of the message sizes, see PayloadPool
  Receive receive = Receive::look;  ///< look, copy (what is not yet in the receiver's own memory) or verify
};

/// Counts of one rank. Over all ranks, the messages received and lost are those sent.
struct PeerResult {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t messages_lost = 0;   ///< sent to this rank, but not received completely; 0 where nothing can be lost
  std::uint64_t messages_wrong = 0;  ///< verify: received with at least one wrong byte
  double seconds = 0;  ///< time from the common start to the last message received by this rank; 0 if there was none
};

/// Another way to move the traffic of a pattern, for comparison with Eventloom's own exchange.
class Peer {
 public:
  using MakeLink = std::function<std::unique_ptr<PeerLink>(const PeerTraffic& traffic)>;

  /// `make_link` is collective. The communicator must outlive the peer.
  Peer(std::string_view name, const Communicator& communicator, MakeLink make_link)
      : name_(name), communicator_(communicator), make_link_(std::move(make_link)) {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Collective over the communicator. Establishes every connection, starts all ranks together, and returns when every
  /// message of every rank has been received or lost. Throws std::invalid_argument for invalid traffic, UserError or
  /// std::runtime_error if a connection fails. In that case, abort the other ranks, which wait in vain.
  PeerResult run(const PeerTraffic& traffic) const;

 private:
  std::string name_;
  const Communicator& communicator_;
  MakeLink make_link_;
};

}  // namespace eventloom
