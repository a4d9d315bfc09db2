#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// The transfers of a cycle over the network, and the resources they compete for: sources, builders and links. A
/// transfer alone on a link keeps it busy for its whole duration.
struct Workload {
  struct Job {
    std::uint32_t source = 0;
    std::uint32_t builder = 0;
    std::uint32_t steps = 1;
    std::vector<std::uint32_t> uses;  ///< resources used; the source comes first
  };
  Workload(const FabricRoutes& fabric, std::uint32_t ranks_per_node);

  /// Number of steps that the busiest resource needs.
  [[nodiscard]] std::uint32_t least_steps() const;

  std::uint32_t ends = 0;
  std::uint32_t steps_per_transfer = 1;
  std::vector<std::uint32_t> capacity;  ///< indexed by resource: simultaneous transfers
  std::vector<Job> jobs;                ///< the longest first, then in the order of a shift

 private:
  void add_job(const FabricRoutes& fabric, const LinkPath& path, std::uint32_t source, std::uint32_t builder,
               double full);
  void leave_out_private();
};

}  // namespace eventloom
