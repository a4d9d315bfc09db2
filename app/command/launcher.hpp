#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace eventloom {

/// The environment of this process, as far as a launcher left marks.
struct ProcessPlace {
  std::function<const char*(const char* name)> environment;  ///< null for unset variables
  long pid = 0;
  long parent = 0;

  [[nodiscard]] static ProcessPlace of_this();
};

/// What a launcher has started on this host, as far as it says before MPI starts.
struct HostShare {
  std::size_t ranks = 1;  ///< at most
  bool first = true;      ///< this process is the first of them
  bool launched = false;
};

/// `cpus` of this host: the ranks that a launcher may have started that does not say how many.
HostShare host_share(const ProcessPlace& place, std::size_t cpus);

/// A launcher has started several processes, but MPI, which does not know this launcher, takes each for a separate
/// program: all would write the same output.
struct LauncherMismatch {
  std::string what;    ///< one line; empty: there is none
  bool speaks = true;  ///< this process is the one that reports it
};

/// `ranks`: as reported by MPI. Known launchers are mpirun of Open MPI (OMPI_COMM_WORLD_SIZE), those of MPICH and its
/// kin (PMI_SIZE, MPI_LOCALNRANKS), and srun (SLURM_STEP_NUM_TASKS, for the process SLURM_TASK_PID or its children).
/// The innermost launcher counts. A program that someone starts in a shell of sbatch, salloc or srun --pty is no
/// mismatch.
LauncherMismatch launcher_mismatch(const ProcessPlace& place, int ranks);

}  // namespace eventloom
