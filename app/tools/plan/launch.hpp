#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/plan/layout.hpp"

/// How to start a plan: rank file and commands.
namespace eventloom {

/// Names that the user gives to the plan.
struct PlanNames {
  std::vector<std::string> hosts;    ///< one per node; empty: hosts of the allocation, by number
  std::vector<std::string> sources;  ///< URIs; empty: the commands contain URI
  std::string rankfile;              ///< empty: the commands do not use one
  bool maps_by_rankfile = false;     ///< mpirun takes the rank file as a mapping; see maps_by_rankfile()
};

/// Returns the name of a node in a rank file: the host, or +nX for host X of the allocation, counted from 0.
std::string node_name(const PlanNames& names, std::uint32_t node);

/// First line of Eventloom's rank files, which identifies them. Open MPI ignores such lines.
inline constexpr std::string_view kRankfileHeader = "# eventloom plan";

/// Returns the lines of an Open MPI rank file; cores are logical numbers. Relative names are resolved only within a
/// job's allocation, which Open MPI 4.1 does not take from --host or --hostfile.
std::string rankfile_text(const Plan& plan, const PlanNames& names);

/// Returns the options of `eventloom run`, one word each.
std::vector<std::string> run_options(const Plan& plan);

/// Returns whether mpirun of this version of MPI (MpiEnvironment::mpi_version()) accepts `--map-by rankfile:file=PATH`
/// instead of `--rankfile PATH`, which Open MPI 5 deprecates.
bool maps_by_rankfile(std::string_view mpi_version);

/// Uses the rank file if there is one, otherwise mpirun options for the same placement and binding.
std::string mpirun_command(const Plan& plan, const PlanNames& names);

/// Cyclic distribution puts rank r on node r mod nodes, as the rank file does.
std::string srun_command(const Plan& plan, const PlanNames& names);

}  // namespace eventloom
