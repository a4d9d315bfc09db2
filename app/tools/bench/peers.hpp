#pragma once

#include <string>
#include <vector>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The peers that this build supports, out of "mpi" (two-sided messages), "zmq-ipc", "zmq-tcp" (PUSH to PULL), "udp"
/// (datagrams, flow control but no retransmission) and "shm" (a ring in shared memory for each connection).
std::vector<std::string> peer_names();

/// Throws std::invalid_argument, which lists the names, unless `name` is one of `names`.
void check_peer_name(const std::string& name, const std::vector<std::string>& names);

/// Collective over the communicator, which must outlive the peer. Throws on all ranks: std::invalid_argument, which
/// lists the names, for a peer that this build lacks; UserError for zmq-ipc or shm with ranks on several hosts.
Peer make_peer(const std::string& name, const Communicator& communicator);

}  // namespace eventloom
