#include "core/transport/mpi_rma_transport.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr int kNeverSent = 77;  ///< a tag that no message has

}  // namespace

MpiRmaTransport::MpiRmaTransport(const Communicator& communicator, std::uint64_t window_bytes)
    : communicator_(communicator), window_(communicator, window_bytes) {
  const auto hosts = communicator.all_gather(host_name());
  for (const auto& host : hosts) near_.push_back(host == host_name() ? 1 : 0);
  all_near_ = std::ranges::count(near_, 0) == 0;
  if (all_near_) return;
  mpi_check(MPI_Irecv(nullptr, 0, MPI_BYTE, communicator.rank(), kNeverSent, communicator.handle(), &never_),
            "MPI_Irecv");
}

MpiRmaTransport::~MpiRmaTransport() {
  if (all_near_ || leaves_alone()) return;
  MPI_Cancel(&never_);
  MPI_Request_free(&never_);
}

void MpiRmaTransport::start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) {
  const int bytes = static_cast<int>(data.size());
  mpi_check_reached(
      MPI_Put(data.data(), bytes, MPI_BYTE, rank, static_cast<MPI_Aint>(offset), bytes, MPI_BYTE, window_.handle()),
      "MPI_Put", rank);
}

void MpiRmaTransport::complete_puts(int rank) {
  const Activity activity(kWaitingForRank, rank);
  mpi_check_reached(MPI_Win_flush(rank, window_.handle()), "MPI_Win_flush", rank);
}

// Over TCP a peer's put or flush waits until this rank enters MPI. The cheapest call that makes progress on every
// transport is a probe (MPI_Win_sync does not). In Open MPI, however, only one probe in a hundred progresses windows,
// which is too rare between hosts; every test of an incomplete request does.
void MpiRmaTransport::progress() {
  int flag = 0;
  if (!all_near_) {
    mpi_check_reached(MPI_Test(&never_, &flag, MPI_STATUS_IGNORE), "MPI_Test", kAnyRank);
    return;
  }
  mpi_check_reached(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.handle(), &flag, MPI_STATUS_IGNORE),
                    "MPI_Iprobe", kAnyRank);
}

// Remote writes become visible without a call in windows of the unified memory model (MPI 4.1, 12.4); only the order of
// this processor's accesses is missing. MPI_Win_sync adds a UCX fence, which waits for others with UCX 1.18 over TCP.
void MpiRmaTransport::sync() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace eventloom
