#pragma once

#include <string>
#include <vector>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// Returns a remark on the problems of each rank of the run, empty if none is known. Covers silent ranks, builders
/// slower than the others, and sources slower than those of other ranks, as described in app/observe/README.md.
std::vector<std::string> rank_remarks(const RunDescription& run, const RunSnapshot& snapshot);

}  // namespace eventloom
