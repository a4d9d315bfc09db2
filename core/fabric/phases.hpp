#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// A cycle of transfers, one from each source to each builder. Time advances in steps. In each step a source sends at
/// most one transfer over the network, a builder receives at most one, and no link carries more than its full rate
/// allows.
struct Phases {
  std::uint32_t ends = 0;                ///< number of sources, and of builders: rank r has source r and builder r
  std::uint32_t steps_per_transfer = 1;  ///< steps of a transfer without slow links; more over a slow link
  std::uint32_t steps = 0;               ///< length of the cycle
  std::uint32_t least = 0;               ///< steps that the busiest link, source or builder needs: a lower bound
  std::vector<std::uint32_t> begins;     ///< [source * ends + builder]: step in which the transfer begins
};

/// A short cycle, found by placing all transfers in an increasing number of steps: first as a shift, then each transfer
/// that does not fit displaces others. Transfers within a node take no time. The result is a function of the arguments.
/// Ranks are numbered node by node; all transfers have the same size.
Phases search_phases(const FabricRoutes& fabric, std::uint32_t ranks_per_node, std::uint64_t seed);

/// The cycle as the lines of a schedule file, which `table:FILE` plays. `step_ns` 0: only the order counts.
std::string table_text(const Phases& phases, std::uint64_t step_ns);

}  // namespace eventloom
