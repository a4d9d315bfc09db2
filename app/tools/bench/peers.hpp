#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Those of "mpi", "zmq-ipc" and "zmq-tcp" that this build has.
std::vector<std::string_view> peer_names();

/// Collective over the communicator, which must outlive the peer. Throws on every rank alike: std::invalid_argument
/// that lists the names for one that this build does not have, UserError for zmq-ipc with ranks on several hosts.
std::unique_ptr<Peer> make_peer(std::string_view name, const Communicator& communicator);

}  // namespace eventloom
