#include "core/mpi/departure.hpp"

#include <mpi.h>

#include <exception>

#include "core/control/agreement.hpp"

namespace eventloom {

namespace {

// Belongs to the rank's thread: no other thread calls MPI.
thread_local bool something_left = false;

}  // namespace

bool leaves_alone() {
  if (std::uncaught_exceptions() == 0 || left_together()) return false;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  something_left = something_left || ranks > 1;
  return ranks > 1;
}

bool left_something() { return something_left; }

}  // namespace eventloom
