#pragma once

#include <memory>

#include "app/tools/bench/peer_link.hpp"

namespace eventloom {

/// Collective. A ring in shared memory per connection, for ranks of one host.
std::unique_ptr<PeerLink> make_shm_link(const Communicator& communicator, const PeerTraffic& traffic);

}  // namespace eventloom
