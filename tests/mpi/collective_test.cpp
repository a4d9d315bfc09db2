// Collective operations over MPI. Exit code 0 if all checks pass.

#include <cstdio>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "tests/support/collective_check.hpp"

int main() {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  const auto fault = eventloom::collective_fault(communicator);
  if (fault.empty()) return 0;
  std::fprintf(stderr, "rank %d of %d: %s\n", communicator.rank(), communicator.size(), fault.c_str());
  return 1;
}
