#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace eventloom {

/// MPI from construction to destruction; exactly one instance per program. Both are collective.
///
/// Before MPI_Init it requests the UCX exchange (pml and osc) over any UCX transport, unless the user has chosen
/// components, and sets variables of UCX that this version or this host needs, unless the user has set them. Open MPI
/// and UCX take these settings from the environment, which works under mpirun, srun and without a launcher.
class MpiEnvironment {
 public:
  MpiEnvironment();
  ~MpiEnvironment();
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;

  /// Whether the time is between construction and destruction or abort().
  [[nodiscard]] static bool is_open();

  /// Whether the launcher combines the exit codes of ranks by bitwise OR, as those of MPICH and Intel MPI do.
  [[nodiscard]] static bool launcher_combines_codes();

  /// Why this MPI cannot be used, in one line; empty if it can.
  [[nodiscard]] std::string trouble() const;

  /// Rank in MPI_COMM_WORLD.
  [[nodiscard]] static int rank();
  [[nodiscard]] static int size();
  /// Whether all ranks call this within the given time; always true for 1 rank. Call at most once, at the end: if some
  /// ranks do not, MPI is usable only for abort().
  [[nodiscard]] static bool all_come_here(std::chrono::milliseconds within);
  /// Collective. Returns the texts of all ranks, in rank order, on rank 0; an empty vector on the others.
  [[nodiscard]] static std::vector<std::string> gather(const std::string& text);
  /// Collective. Returns the codes of all ranks, in rank order, on each.
  [[nodiscard]] static std::vector<int> gather_codes(int code);
  /// Ends all ranks immediately with `code`; ends this one in any case. Intended for errors of a single rank.
  [[noreturn]] static void abort(int code);

  /// Library versions; also available while MPI is not open. "none" if MPI does not use UCX.
  [[nodiscard]] static std::string mpi_version();
  [[nodiscard]] static std::string ucx_version();

 private:
  int thread_level_ = 0;
  bool has_tools_;  ///< MPI's tool interface is open
};

/// Whether a launcher (mpirun, srun) started this process; may be called before MPI is initialised.
bool launched();

}  // namespace eventloom
