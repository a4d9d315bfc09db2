#pragma once

#include <memory>

#include "app/tools/bench/peer_link.hpp"

namespace eventloom {

/// Collective. Datagrams between the ranks, see UdpSending. A rank receives at one socket, of the kind that live input
/// uses; the windows of all its senders together fit into the buffer of that socket.
std::unique_ptr<PeerLink> make_udp_link(const Communicator& communicator, const PeerTraffic& traffic);

}  // namespace eventloom
