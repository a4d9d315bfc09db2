#pragma once

#include <optional>
#include <string>
#include <vector>

/// Lets `doctor` report findings where MPI would otherwise end the program at start-up.
namespace eventloom {

/// While an object exists, UCX does not use shared memory, so that MPI starts even if /dev/shm is the problem. Ranks of
/// a host then communicate over TCP.
class SharedMemoryLeftOut {
 public:
  SharedMemoryLeftOut();
  ~SharedMemoryLeftOut();
  SharedMemoryLeftOut(const SharedMemoryLeftOut&) = delete;
  SharedMemoryLeftOut& operator=(const SharedMemoryLeftOut&) = delete;

 private:
  std::optional<std::string> before_;  ///< the user's value of UCX_TLS
};

/// Tries to start MPI in a child process, because MPI ends the process in which it cannot start. Call it only if no
/// launcher started this process: a launcher would take the child for a rank. MPI's output goes to stderr.
bool mpi_starts();

/// Returns the variables of this process that configure MPI and UCX.
std::vector<std::string> mpi_variables();

}  // namespace eventloom
