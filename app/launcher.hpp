#pragma once

#include <functional>
#include <string>

namespace eventloom {

/// Where this process stands, as far as a launcher left marks.
struct ProcessPlace {
  std::function<const char*(const char* name)> environment;  ///< null for what is not set
  long pid = 0;
  long parent = 0;

  [[nodiscard]] static ProcessPlace of_this();
};

/// A launcher has started several processes, but MPI, which does not know this launcher, takes each for a program of
/// its own: all would write the same output.
struct LauncherMismatch {
  std::string what;    ///< one line; empty: there is none
  bool speaks = true;  ///< of all these processes one says it
};

/// `ranks`: as MPI says. Known are mpirun of Open MPI (OMPI_COMM_WORLD_SIZE), the launchers of MPICH and its kin
/// (PMI_SIZE, MPI_LOCALNRANKS), and srun (SLURM_STEP_NUM_TASKS, of the process SLURM_TASK_PID or what that has
/// started). The innermost launcher counts. No mismatch is a program that someone starts in a shell of sbatch, salloc
/// or srun --pty.
LauncherMismatch launcher_mismatch(const ProcessPlace& place, int ranks);

}  // namespace eventloom
