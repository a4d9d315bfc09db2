#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/plan/layout.hpp"

/// How to start a plan: rank file and commands.
namespace eventloom {

/// Launchers, by their options: those of Open MPI, of which 5 takes a rank file as a mapping, and Hydra, mpiexec of
/// MPICH and Intel MPI.
enum class Launcher { open_mpi_4, open_mpi_5, hydra };

/// The launcher of the MPI that calls itself `mpi_version` (MpiEnvironment::mpi_version()).
Launcher launcher_of(std::string_view mpi_version);

/// Names that the user gives to the plan.
struct PlanNames {
  std::vector<std::string> hosts;            ///< one per node; empty: hosts of the allocation, by number
  std::vector<std::string> sources;          ///< URIs; empty: the commands contain URI
  std::string rankfile;                      ///< empty: the commands do not use one
  Launcher launcher = Launcher::open_mpi_4;  ///< used beside srun
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

/// Uses the rank file if there is one, otherwise options of the launcher for the same placement and binding. Hydra has
/// no rank files.
std::string mpirun_command(const Plan& plan, const PlanNames& names);

/// Cyclic distribution puts rank r on node r mod nodes, as the rank file does.
std::string srun_command(const Plan& plan, const PlanNames& names);

}  // namespace eventloom
