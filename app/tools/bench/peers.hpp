#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The peers that this build supports, out of "mpi", "zmq-ipc" and "zmq-tcp".
std::vector<std::string_view> peer_names();

/// Collective over the communicator, which must outlive the peer. Throws on all ranks: std::invalid_argument, which
/// lists the names, for a peer that this build lacks; UserError for zmq-ipc with ranks on several hosts.
std::unique_ptr<Peer> make_peer(std::string_view name, const Communicator& communicator);

}  // namespace eventloom
