#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace eventloom {

/// MPI from construction to destruction; exactly one in a program. Both ends are collective.
///
/// Before MPI_Init it asks for the UCX exchange (pml and osc) over any UCX transport, unless the
/// user has chosen components himself: Open MPI takes these settings from the environment, which
/// works under mpirun, srun and without any launcher.
class MpiEnvironment {
 public:
  MpiEnvironment();
  ~MpiEnvironment();
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;

  /// Between construction and destruction, or abort().
  [[nodiscard]] static bool is_open();

  /// What is wrong with this MPI, in one line; empty: nothing.
  [[nodiscard]] std::string trouble() const;

  /// Of MPI_COMM_WORLD.
  [[nodiscard]] static int rank();
  [[nodiscard]] static int size();
  /// Whether all ranks call this within so long: 1 rank always does. Once only, and at the end: where some do not come
  /// MPI is of no more use than for abort().
  [[nodiscard]] static bool all_come_here(std::chrono::milliseconds within);
  /// Collective. The texts of all ranks, in their order, on rank 0; nothing on the others.
  [[nodiscard]] static std::vector<std::string> gather(const std::string& text);
  /// Ends all ranks at once with `code`, this one in any case. For errors that one rank meets alone.
  [[noreturn]] static void abort(int code);

  [[nodiscard]] static std::string mpi_version();
  [[nodiscard]] static std::string ucx_version();

 private:
  int thread_level_ = 0;
};

/// What the exchange runs on, as far as MPI and the environment tell.
struct ExchangeBackend {
  std::string pml;  ///< components asked for, e.g. "ucx"
  std::string osc;
  std::string transports;  ///< UCX_TLS, or what UCX finds on this host
  bool is_ucx = false;
};
ExchangeBackend exchange_backend();

/// Whether a launcher (mpirun, srun) started this process; known before MPI is initialised.
bool launched();

}  // namespace eventloom
