#include "core/mpi/communicator.hpp"

#include <numeric>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/idle.hpp"

namespace eventloom {

Communicator::Communicator() {
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &handle_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

Communicator::~Communicator() {
  if (!leaves_alone()) MPI_Comm_free(&handle_);
}

std::vector<std::string> Communicator::all_gather(const std::string& text) const {
  const auto n = static_cast<std::size_t>(size_);
  const int mine = static_cast<int>(text.size());
  std::vector<int> sizes(n);
  mpi_check(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, handle_), "MPI_Allgather");
  std::vector<int> at(n);
  std::exclusive_scan(sizes.begin(), sizes.end(), at.begin(), 0);
  std::string all(static_cast<std::size_t>(at.back() + sizes.back()), '\0');
  mpi_check(MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), sizes.data(), at.data(), MPI_CHAR, handle_),
            "MPI_Allgatherv");
  std::vector<std::string> texts(n);
  for (std::size_t r = 0; r < n; ++r) {
    texts[r] = all.substr(static_cast<std::size_t>(at[r]), static_cast<std::size_t>(sizes[r]));
  }
  return texts;
}

std::string Communicator::broadcast(const std::string& text) const {
  int size = static_cast<int>(text.size());
  mpi_check(MPI_Bcast(&size, 1, MPI_INT, 0, handle_), "MPI_Bcast");
  std::string out = text;
  out.resize(static_cast<std::size_t>(size));
  mpi_check(MPI_Bcast(out.data(), size, MPI_CHAR, 0, handle_), "MPI_Bcast");
  return out;
}

PendingBarrier::PendingBarrier(const Communicator& communicator) {
  mpi_check(MPI_Ibarrier(communicator.handle(), &request_), "MPI_Ibarrier");
}

// The request of a nonblocking collective operation may not be freed (MPI-4.0, 6.12): all come, or the program ends.
PendingBarrier::~PendingBarrier() {
  Idle idle;
  int all_here = 0;
  while (!leaves_alone() && MPI_Test(&request_, &all_here, MPI_STATUS_IGNORE) == MPI_SUCCESS && all_here == 0) {
    idle.wait();
  }
}

bool PendingBarrier::done() {
  int flag = 0;
  mpi_check(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

}  // namespace eventloom
