#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// The transfers of a cycle over the network, and what they compete for: sources, builders and links. A transfer that
/// has a link for itself keeps it busy for as many steps as it takes.
struct Workload {
  struct Job {
    std::uint32_t source = 0;
    std::uint32_t builder = 0;
    std::uint32_t steps = 1;
    std::vector<std::uint32_t> uses;  ///< numbers of resources, from its source on
  };
  Workload(const FabricRoutes& fabric, std::uint32_t ranks_per_node);

  /// The steps that the busiest resource needs.
  [[nodiscard]] std::uint32_t least_steps() const;

  std::uint32_t ends = 0;
  std::uint32_t steps_per_transfer = 1;
  std::vector<std::uint32_t> capacity;  ///< by resource: transfers at a time
  std::vector<Job> jobs;                ///< the longest first, and in the order of a shift

 private:
  void add_job(const FabricRoutes& fabric, const LinkPath& path, std::uint32_t source, std::uint32_t builder,
               double full);
  void leave_out_private();
};

}  // namespace eventloom
