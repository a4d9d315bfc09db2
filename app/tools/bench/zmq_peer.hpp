#pragma once

#include <memory>

#include "app/tools/bench/peer_link.hpp"

namespace eventloom {

/// Collective. ZeroMQ sockets over TCP or, on one host only, over ipc; in builds with ZeroMQ. The communicator must
/// outlive the link.
std::unique_ptr<PeerLink> make_zmq_link(const Communicator& communicator, const PeerTraffic& traffic, bool over_tcp);

}  // namespace eventloom
