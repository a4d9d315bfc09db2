#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace eventloom {

/// The launcher's traces in the environment, and the process's own identity.
struct ProcessPlace {
  std::function<const char*(const char* name)> environment;  ///< null for unset variables
  long pid = 0;
  long parent = 0;

  [[nodiscard]] static ProcessPlace of_this();
};

/// The ranks that a launcher started on this host, to the extent known before MPI starts.
struct HostShare {
  std::size_t ranks = 1;  ///< upper limit
  bool first = true;      ///< whether this process is the first of them
  bool launched = false;
};

/// `cpus`: number of CPUs of this host, assumed as the number of ranks if the launcher does not state it.
HostShare host_share(const ProcessPlace& place, std::size_t cpus);

/// A launcher has started several processes, but MPI does not know this launcher and takes each for a separate program:
/// all would write the same output.
struct LauncherMismatch {
  std::string what;    ///< one line; empty: no mismatch
  bool speaks = true;  ///< whether this process reports it
};

/// `ranks`: number of ranks that MPI reports. Known launchers: mpirun of Open MPI (OMPI_COMM_WORLD_SIZE), those of
/// MPICH and its derivatives (PMI_SIZE, MPI_LOCALNRANKS), and srun (SLURM_STEP_NUM_TASKS, for the process
/// SLURM_TASK_PID or its children). The innermost launcher counts. A program started by hand in a shell of sbatch,
/// salloc or srun --pty is not a mismatch.
LauncherMismatch launcher_mismatch(const ProcessPlace& place, int ranks);

/// The words that start `ranks` ranks on this host, also more than it has cores, with the launcher of this MPI.
std::vector<std::string> words_to_launch(std::uint64_t ranks);

}  // namespace eventloom
