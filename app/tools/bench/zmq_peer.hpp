#pragma once

#include <memory>
#include <string_view>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Creates the peer "zmq-ipc" or "zmq-tcp", in builds with ZeroMQ. Collective, like make_peer().
std::unique_ptr<Peer> make_zmq_peer(std::string_view name, const Communicator& communicator);

}  // namespace eventloom
