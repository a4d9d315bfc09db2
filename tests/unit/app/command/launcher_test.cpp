#include "app/command/launcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace eventloom {

namespace {

/// Process 100, a child of process 90, with these environment variables.
ProcessPlace place(std::map<std::string, std::string> variables) {
  return {[variables = std::move(variables)](const char* name) -> const char* {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
          },
          100, 90};
}

/// The variables that `srun -n 4` of Slurm 22.05 sets for each of its tasks.
std::map<std::string, std::string> step(const std::string& task_pid, const std::string& rank = "0") {
  return {{"SLURM_JOB_ID", "134"},       {"SLURM_NTASKS", "4"},  {"SLURM_STEP_ID", "0"},
          {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", rank}, {"SLURM_TASK_PID", task_pid}};
}

template <class... More>
std::map<std::string, std::string> with(std::map<std::string, std::string> variables, const More&... more) {
  (variables.insert_or_assign(more.first, more.second), ...);
  return variables;
}
std::pair<std::string, std::string> variable(const char* name, const char* value) { return {name, value}; }

}  // namespace

TEST(Launcher, ProcessesThatMpiDoesNotJoinAreNoticed) {
  const auto mpich = launcher_mismatch(place({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}}), 1);
  EXPECT_NE(mpich.what.find("mpiexec has started 3 processes"), std::string::npos) << mpich.what;
  EXPECT_TRUE(mpich.speaks);
  const auto open_mpi = launcher_mismatch(place({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}}), 1);
  EXPECT_NE(open_mpi.what.find("mpirun has started 2 processes"), std::string::npos) << open_mpi.what;
  EXPECT_FALSE(open_mpi.speaks);
  const auto srun = launcher_mismatch(place(step("100")), 1);
  EXPECT_NE(srun.what.find("srun has started 4 processes"), std::string::npos) << srun.what;
  EXPECT_NE(srun.what.find("--mpi=pmix"), std::string::npos) << srun.what;
  EXPECT_FALSE(launcher_mismatch(place(step("100", "2")), 1).speaks);
  EXPECT_NE(launcher_mismatch(place(step("90")), 1).what, "") << "in a script that srun starts";
  // Slurm's own PMI-2.
  EXPECT_NE(launcher_mismatch(place(with(step("100"), variable("PMI_SIZE", "4"), variable("PMI_RANK", "0"))), 1).what,
            "");
}

TEST(Launcher, WhereMpiJoinsThemAllIsWell) {
  EXPECT_EQ(launcher_mismatch(place({}), 1).what, "");
  EXPECT_EQ(launcher_mismatch(place({{"OMPI_COMM_WORLD_SIZE", "2"}}), 2).what, "");
  EXPECT_EQ(launcher_mismatch(place(step("100")), 4).what, "");
  EXPECT_EQ(launcher_mismatch(place({{"PMI_SIZE", "1"}, {"MPI_LOCALNRANKS", "1"}}), 1).what, "");
}

TEST(Launcher, SaysHowManyRanksAreOnTheHost) {
  const auto share = [](const std::map<std::string, std::string>& variables) {
    const auto found = host_share(place(variables), 16);
    return std::tuple(found.ranks, found.first, found.launched);
  };
  EXPECT_EQ(share({}), std::tuple(1, true, false));
  EXPECT_EQ(share({{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}),
            std::tuple(4, false, true));
  EXPECT_EQ(share({{"MPI_LOCALNRANKS", "3"}, {"MPI_LOCALRANKID", "0"}}), std::tuple(3, true, true));
  EXPECT_EQ(share(with(step("100"), variable("PMIX_RANK", "5"), variable("SLURM_LOCALID", "1"))),
            std::tuple(16, false, true))
      << "srun does not state it";
  EXPECT_EQ(share(with(step("50"), variable("SLURM_PTY_PORT", "33"))), std::tuple(1, true, false));
}

TEST(Launcher, ShellsAndScriptsOfSlurmAreNoMismatch) {
  // sbatch: a script of one process.
  const std::map<std::string, std::string> batch = {{"SLURM_JOB_ID", "7"},
                                                    {"SLURM_NTASKS", "8"},
                                                    {"SLURM_NPROCS", "8"},
                                                    {"SLURM_PROCID", "0"},
                                                    {"SLURM_TASK_PID", "90"}};
  EXPECT_EQ(launcher_mismatch(place(batch), 1).what, "");
  // salloc, whose shell may be a step of one task.
  EXPECT_EQ(launcher_mismatch(place(with(step("90"), variable("SLURM_STEP_NUM_TASKS", "1"))), 1).what, "");
  // srun -n 4 --pty bash.
  EXPECT_EQ(launcher_mismatch(place(with(step("90"), variable("SLURM_PTY_PORT", "33"))), 1).what, "");
  EXPECT_EQ(
      launcher_mismatch(place(with(step("90"), variable("SLURM_PTY_PORT", "33"), variable("PMI_SIZE", "4"))), 1).what,
      "");
  // A test program that a task starts through other processes.
  EXPECT_EQ(launcher_mismatch(place(step("50")), 1).what, "");
  // `mpirun -np 1` in a job: its daemon on another host is a task of srun, but its rank is not.
  EXPECT_EQ(launcher_mismatch(place(with(step("90"), variable("OMPI_COMM_WORLD_SIZE", "1"))), 1).what, "");
  EXPECT_EQ(
      launcher_mismatch(place(with(step("90"), variable("PMI_SIZE", "1"), variable("MPI_LOCALNRANKS", "1"))), 1).what,
      "");
}

}  // namespace eventloom
