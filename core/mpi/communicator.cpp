#include "core/mpi/communicator.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/idle.hpp"

namespace eventloom {

namespace {

/// Converts to int, the type of MPI's counts.
int count_of(std::size_t bytes) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (bytes > kMost) throw std::runtime_error("ranks have " + std::to_string(bytes) + " bytes to exchange at once");
  return static_cast<int>(bytes);
}

class MpiBarrier final : public PendingBarrier {
 public:
  explicit MpiBarrier(MPI_Comm communicator) {
    mpi_check_reached(MPI_Ibarrier(communicator, &request_), "MPI_Ibarrier", kAnyRank);
  }

  // The request of a nonblocking collective operation may not be freed (MPI-4.0, 6.12): all ranks join, or the program
  // ends.
  ~MpiBarrier() override {
    Idle idle;
    int all_here = 0;
    while (!leaves_alone() && MPI_Test(&request_, &all_here, MPI_STATUS_IGNORE) == MPI_SUCCESS && all_here == 0) {
      idle.wait();
    }
  }

  bool done() override {
    int flag = 0;
    mpi_check_reached(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test", kAnyRank);
    return flag != 0;
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

Communicator::Communicator() {
  mpi_check_reached(MPI_Comm_dup(MPI_COMM_WORLD, &handle_), "MPI_Comm_dup", kAnyRank);
  MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(handle_, &rank_);
  MPI_Comm_size(handle_, &size_);
}

Communicator::~Communicator() {
  if (!leaves_alone()) MPI_Comm_free(&handle_);
}

std::unique_ptr<PendingBarrier> Communicator::barrier() const { return std::make_unique<MpiBarrier>(handle_); }

void Communicator::gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                                std::span<std::byte> all) const {
  count_of(all.size());
  const std::vector<int> counts(bytes.begin(), bytes.end());
  std::vector<int> at(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
  mpi_check_reached(MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(), counts.data(),
                                   at.data(), MPI_BYTE, handle_),
                    "MPI_Allgatherv", kAnyRank);
}

void Communicator::broadcast_bytes(std::span<std::byte> data) const {
  mpi_check_reached(MPI_Bcast(data.data(), count_of(data.size()), MPI_BYTE, 0, handle_), "MPI_Bcast", kAnyRank);
}

}  // namespace eventloom
