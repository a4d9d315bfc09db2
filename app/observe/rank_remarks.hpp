#pragma once

#include <string>
#include <vector>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// For each rank of the run, what is wrong with it, in words; empty where nothing is known to be. Of a rank that has
/// been silent, of a builder that is slower than the others, and of sources that are slower than those of other ranks,
/// as app/observe/README.md says.
std::vector<std::string> rank_remarks(const RunDescription& run, const RunSnapshot& snapshot);

}  // namespace eventloom
