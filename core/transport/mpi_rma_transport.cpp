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

/// Collective. The lowest rank among those with which MPI shares memory. A setting of MPICH (MPIR_CVAR_NUM_CLIQUES)
/// has it share memory with some ranks of the host only.
int first_that_shares(const Communicator& communicator) {
  MPI_Comm sharing = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &sharing),
            "MPI_Comm_split_type");
  int first = communicator.rank();
  const int sent = MPI_Bcast(&first, 1, MPI_INT, 0, sharing);
  MPI_Comm_free(&sharing);
  mpi_check(sent, "MPI_Bcast");
  return first;
}

}  // namespace

MpiRmaTransport::MpiRmaTransport(const Communicator& communicator, std::uint64_t window_bytes)
    : communicator_(communicator), window_(communicator, window_bytes) {
  // MPI puts through a network if ranks of a host share no window. Whether a flush then completes puts depends on the
  // network: MPICH over libfabric's TCP returns before 64 bytes have arrived.
  constexpr int kNone = -1;
  const int first = first_that_shares(communicator);
  const auto hosts = communicator.all_gather(host_name());
  const auto firsts = communicator.all_gather(window_.is_shared() ? first : kNone);
  const auto me = static_cast<std::size_t>(communicator.rank());
  for (std::size_t other = 0; other < hosts.size(); ++other)
    near_.push_back(hosts[other] == hosts[me] && firsts[other] == firsts[me] && firsts[me] != kNone ? 1 : 0);
  all_near_ = std::ranges::count(hosts, hosts.front()) == communicator.size() &&
              std::ranges::count(firsts, 0) == communicator.size();
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
