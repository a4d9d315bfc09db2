#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "app/command/rank_places.hpp"
#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Checks whether each rank has a core to itself and is bound to it. `srun`: a launcher other than mpirun
/// started the ranks.
std::vector<Finding> check_cores(const std::vector<RankPlace>& places, bool srun);

/// Checks whether other programs leave room for `ranks` ranks on the hardware threads of this host.
std::vector<Finding> check_load(std::size_t ranks, std::size_t cpus, const std::filesystem::path& root = "/");

}  // namespace eventloom
