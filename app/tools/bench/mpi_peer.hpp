#pragma once

#include <memory>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Two-sided messages of MPI. The communicator must outlive the peer.
std::unique_ptr<Peer> make_mpi_peer(const Communicator& communicator);

}  // namespace eventloom
