#pragma once

#include <memory>

#include "app/tools/bench/peer_link.hpp"

namespace eventloom {

/// Collective. Two-sided MPI messages. The communicator must outlive the link.
std::unique_ptr<PeerLink> make_mpi_link(const Communicator& communicator, const PeerTraffic& traffic);

}  // namespace eventloom
