#pragma once

#include <optional>
#include <string>
#include <vector>

/// So that doctor can speak where MPI would end the program before it begins.
namespace eventloom {

/// While this exists UCX leaves shared memory out, so that MPI starts where /dev/shm is what is wrong; ranks of a host
/// reach each other over TCP then.
class SharedMemoryLeftOut {
 public:
  SharedMemoryLeftOut();
  ~SharedMemoryLeftOut();
  SharedMemoryLeftOut(const SharedMemoryLeftOut&) = delete;
  SharedMemoryLeftOut& operator=(const SharedMemoryLeftOut&) = delete;

 private:
  std::optional<std::string> before_;  ///< UCX_TLS, as the user has set it
};

/// Tried out in a child process, as MPI ends the process in which it cannot start. Only for a process that no launcher
/// has started, which would take the child for a rank. What MPI says goes to stderr.
bool mpi_starts();

/// The variables of this process that set up MPI and UCX.
std::vector<std::string> mpi_variables();

}  // namespace eventloom
