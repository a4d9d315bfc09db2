#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "app/command/rank_places.hpp"
#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Whether each rank has a core to itself, and is bound to it. `srun`: what launched the ranks is not mpirun.
std::vector<Finding> check_cores(const std::vector<RankPlace>& places, bool srun);

/// Whether other programs leave room for `ranks` ranks on the hardware threads of this host.
std::vector<Finding> check_load(std::size_t ranks, std::size_t cpus, const std::filesystem::path& root = "/");

}  // namespace eventloom
