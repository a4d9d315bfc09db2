#pragma once

#include <functional>
#include <vector>

#include "app/role.hpp"
#include "core/mpi/communicator.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/transport.hpp"

namespace eventloom {

/// Collective. Every role of this rank takes its turn until no role of any rank has anything left
/// to do. `each_turn` is called once a turn, with the time at its beginning.
void run_roles(const std::vector<Role*>& roles, Transport& transport, const Communicator& communicator, Idle idle,
               const std::function<void(SteadyTime)>& each_turn);

}  // namespace eventloom
