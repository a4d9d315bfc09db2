#pragma once

#include <functional>
#include <vector>

#include "app/run/run_config.hpp"
#include "core/control/collective.hpp"
#include "core/engine/role_layout.hpp"
#include "core/engine/source_role.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// The sources opened on the rank where they play, in rising numbers. Throws UserError.
std::vector<SourceRole::LocalSource> open_local_sources(const RunConfig& config, const std::vector<SourceSpec>& specs,
                                                        const Roles& roles, int rank);

/// Collective. Waits until all live sources are described and their first data known; at most --epoch-timeout longer
/// than until the first is, and 0.2 s when the run is asked to stop. They receive meanwhile. `each_turn` is called
/// before each look at them, with how many are live and described; both 0 before the first. Afterwards the headers of
/// live sources are fixed. False when --duration is over.
bool wait_for_live(std::vector<SourceRole::LocalSource>& local, const RunConfig& config, const Collective& ranks,
                   const std::function<void(std::size_t live, std::size_t known)>& each_turn);

/// Collective. With --loop: replaces recordings in `local` by looped ones. All passes have the same length, separated
/// by a gap longer than events reach. Throws UserError, the same on all ranks.
void loop_recordings(std::vector<SourceRole::LocalSource>& local, const std::vector<SourceSpec>& specs,
                     const RunConfig& config, const Collective& ranks);

}  // namespace eventloom
