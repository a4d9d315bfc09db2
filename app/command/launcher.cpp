#include "app/command/launcher.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "core/mpi/exchange_backend.hpp"

namespace eventloom {

namespace {

constexpr const char* kAnotherMpi =
    "it belongs to another MPI than the one eventloom was built with; use the mpirun of that MPI, or ";
constexpr const char* kNoPmi = "use ";

std::optional<long> number(const ProcessPlace& place, const char* name) {
  const char* text = place.environment(name);
  return text == nullptr ? std::nullopt : std::optional(std::strtol(text, nullptr, 10));
}

struct Launch {
  const char* launcher = "";
  long processes = 1;
  long rank = 0;
  const char* advice = "";  ///< precedes the command line of srun
};

/// srun also marks all descendants of its tasks, including shells.
bool is_task_of_srun(const ProcessPlace& place) {
  const auto task = number(place, "SLURM_TASK_PID");
  return place.environment("SLURM_PTY_PORT") == nullptr && task && (*task == place.pid || *task == place.parent);
}

/// Returns the innermost launcher.
Launch launch_of(const ProcessPlace& place) {
  if (const auto n = number(place, "OMPI_COMM_WORLD_SIZE")) {
    return {"mpirun", *n, number(place, "OMPI_COMM_WORLD_RANK").value_or(0), kAnotherMpi};
  }
  const auto in_step = number(place, "SLURM_STEP_NUM_TASKS");
  const auto local = number(place, "MPI_LOCALNRANKS");
  const auto pmi = number(place, "PMI_SIZE");
  if (local || (pmi && !in_step)) {
    return {"mpiexec", pmi ? *pmi : *local, number(place, "PMI_RANK").value_or(0), kAnotherMpi};
  }
  if (in_step && is_task_of_srun(place)) {
    return {"srun", *in_step, number(place, "SLURM_PROCID").value_or(0), kNoPmi};
  }
  return {};
}

}  // namespace

ProcessPlace ProcessPlace::of_this() {
  return {[](const char* name) { return static_cast<const char*>(std::getenv(name)); }, getpid(), getppid()};
}

HostShare host_share(const ProcessPlace& place, std::size_t cpus) {
  struct Names {
    const char* ranks;
    const char* rank;
  };
  constexpr std::array kLaunchers = {Names{"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                     Names{"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};
  for (const auto& [ranks, rank] : kLaunchers) {
    if (const auto n = number(place, ranks)) {
      return {static_cast<std::size_t>(std::max(*n, 1L)), number(place, rank).value_or(0) == 0, true};
    }
  }
  if (place.environment("PMIX_RANK") == nullptr && launch_of(place).processes <= 1) return {};
  return {std::max<std::size_t>(cpus, 1), number(place, "SLURM_LOCALID").value_or(0) == 0, true};
}

std::vector<std::string> words_to_launch(std::uint64_t ranks) {
  std::vector<std::string> words = {"mpirun", "-np", std::to_string(ranks)};
  if (mpi_library() == MpiLibrary::open_mpi) words.emplace_back("--oversubscribe");
  return words;
}

LauncherMismatch launcher_mismatch(const ProcessPlace& place, int ranks) {
  const auto launch = launch_of(place);
  if (ranks > 1 || launch.processes <= 1) return {};
  return {std::string(launch.launcher) + " has started " + std::to_string(launch.processes) +
              " processes, but MPI sees each of them as a single rank: " + launch.advice +
              "srun --mpi=" + (mpi_library() == MpiLibrary::open_mpi ? "pmix" : "pmi2"),
          launch.rank == 0};
}

}  // namespace eventloom
