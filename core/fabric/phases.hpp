#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// A cycle of transfers, one from each source to each builder. Time goes in steps. In each a source sends at most one
/// transfer over the network, a builder receives at most one, and no link carries more than it can at full rate.
struct Phases {
  std::uint32_t ends = 0;                ///< sources, and as many builders: rank r has source r and builder r
  std::uint32_t steps_per_transfer = 1;  ///< that a transfer takes where no link is slow; more over a slow link
  std::uint32_t steps = 0;               ///< of the cycle
  std::uint32_t least = 0;               ///< the steps that the busiest link, source or builder needs: none has fewer
  std::vector<std::uint32_t> begins;     ///< [source * ends + builder]: step in which the transfer begins
};

/// A short cycle, sought by placing all transfers in ever more steps: as a shift first, then each that does not fit
/// takes the place of others. Those inside a node take no time. The same arguments give the same cycle. Ranks are
/// numbered node by node; all transfers are of the same size.
Phases search_phases(const FabricRoutes& fabric, std::uint32_t ranks_per_node, std::uint64_t seed);

/// The cycle as the lines of a schedule file, which `table:FILE` plays. `step_ns`: 0: only the order counts.
std::string table_text(const Phases& phases, std::uint64_t step_ns);

}  // namespace eventloom
