#pragma once

#include <functional>
#include <vector>

#include "app/run/run_config.hpp"
#include "core/engine/roles.hpp"
#include "core/engine/source_role.hpp"
#include "core/mpi/communicator.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// Sources that are opened on the rank where they play, in rising numbers. Throws UserError.
std::vector<SourceRole::LocalSource> open_local_sources(const RunConfig& config, const std::vector<SourceSpec>& specs,
                                                        const Roles& roles, int rank);

/// Collective. Waits until all live sources have told what they are and when their data begin; at most
/// --epoch-timeout longer than until the first has, and not at all when the run is asked to stop. Meanwhile they
/// receive. `each_turn` is called now and then. Afterwards what live sources say of themselves is settled. False when
/// --duration is over.
bool wait_for_live(std::vector<SourceRole::LocalSource>& local, const RunConfig& config,
                   const Communicator& communicator, const std::function<void()>& each_turn);

/// Collective. With --loop: puts recordings that are replayed again and again in the place of those in `local`. All
/// passes have the same length, and between two of them nothing comes for longer than events reach. Throws UserError,
/// the same on all ranks.
void loop_recordings(std::vector<SourceRole::LocalSource>& local, const std::vector<SourceSpec>& specs,
                     const RunConfig& config, const Communicator& communicator);

}  // namespace eventloom
