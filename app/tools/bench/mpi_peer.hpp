#pragma once

#include <memory>

#include "app/tools/bench/peer.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// A peer that uses two-sided MPI messages. The communicator must outlive it.
std::unique_ptr<Peer> make_mpi_peer(const Communicator& communicator);

}  // namespace eventloom
