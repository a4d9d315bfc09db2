#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/plan/layout.hpp"

/// Start of a plan: rank file and commands.
namespace eventloom {

/// Names given to the plan.
struct PlanNames {
  std::vector<std::string> hosts;    ///< by node; empty: hosts of the allocation, by number
  std::vector<std::string> sources;  ///< URIs; empty: the commands contain URI
  std::string rankfile;              ///< empty: the commands do not use one
  bool maps_by_rankfile = false;     ///< mpirun takes the rank file as a mapping: maps_by_rankfile()
};

/// Name of a node in a rank file: the host, or +nX for host X of the allocation, counted from 0.
std::string node_name(const PlanNames& names, std::uint32_t node);

/// The first line of Eventloom's rank files, which identifies them: Open MPI ignores such lines.
inline constexpr std::string_view kRankfileHeader = "# eventloom plan";

/// The lines of an Open MPI rank file; cores are logical numbers. Relative names are resolved only within a job's
/// allocation, which Open MPI 4.1 does not take from --host or --hostfile.
std::string rankfile_text(const Plan& plan, const PlanNames& names);

/// Options of `eventloom run`, one word each.
std::vector<std::string> run_options(const Plan& plan);

/// Whether mpirun of this version of MPI (MpiEnvironment::mpi_version()) takes `--map-by rankfile:file=PATH` instead of
/// `--rankfile PATH`, which Open MPI 5 calls deprecated.
bool maps_by_rankfile(std::string_view mpi_version);

/// With the rank file; without one, with options of mpirun for the same placement and binding.
std::string mpirun_command(const Plan& plan, const PlanNames& names);

/// Cyclic distribution puts rank r on node r mod nodes, as the rank file does.
std::string srun_command(const Plan& plan, const PlanNames& names);

}  // namespace eventloom
