#include "app/tools/bench/mpi_duplex.hpp"

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kPosted = 8;
constexpr int kDuplexTag = 1;
constexpr int kReportTag = 2;
constexpr std::uint64_t kMessagesPerReport = 1024;
constexpr std::uint64_t kMostAhead = 4 * kMessagesPerReport;

}  // namespace

MpiDuplex::MpiDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait), largest_(settings.largest) {
  mpi_check(MPI_Comm_dup(communicator.handle(), &communicator_), "MPI_Comm_dup");
  if (!settings.other) return;
  other_ = *settings.other;
  buffers_.resize(kPosted * largest_);
  requests_.assign(kPosted + 1, MPI_REQUEST_NULL);
  for (std::size_t place = 0; place < kPosted; ++place) post(place);
  take_report();
}

MpiDuplex::~MpiDuplex() {
  if (leaves_alone()) return;
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&communicator_);
}

void MpiDuplex::post(std::size_t place) {
  mpi_check(MPI_Irecv(buffers_.data() + place * largest_, static_cast<int>(largest_), MPI_BYTE, other_, kDuplexTag,
                      communicator_, &requests_[place]),
            "MPI_Irecv");
}

/// Posts the receive of the next report; returns whether one has been received.
bool MpiDuplex::take_report() {
  int received = 0;
  auto& report = requests_[kPosted];
  if (report != MPI_REQUEST_NULL) mpi_check(MPI_Test(&report, &received, MPI_STATUS_IGNORE), "MPI_Test");
  if (received != 0) reported_ += kMessagesPerReport;
  if (report == MPI_REQUEST_NULL) {
    mpi_check(MPI_Irecv(nullptr, 0, MPI_BYTE, other_, kReportTag, communicator_, &report), "MPI_Irecv");
  }
  return received != 0;
}

bool MpiDuplex::try_send(std::span<const std::byte> message) {
  if (sent_ - reported_ >= kMostAhead && !take_report()) return false;
  ++sent_;
  mpi_check(MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, other_, kDuplexTag, communicator_),
            "MPI_Send");
  return true;
}

bool MpiDuplex::send_complete(std::span<const std::byte> message) {
  while (sent_ - reported_ >= kMostAhead && !take_report()) pause();
  ++sent_;
  mpi_check(MPI_Ssend(message.data(), static_cast<int>(message.size()), MPI_BYTE, other_, kDuplexTag, communicator_),
            "MPI_Ssend");
  return true;
}

void MpiDuplex::flush() {
  while (sent_ - reported_ >= kMessagesPerReport) {
    if (!take_report()) pause();
  }
}

std::optional<std::span<const std::byte>> MpiDuplex::poll() {
  const std::size_t place = taken_ % kPosted;
  MPI_Status status;
  int received = 0;
  mpi_check(MPI_Test(&requests_[place], &received, &status), "MPI_Test");
  if (received == 0) return std::nullopt;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  return std::span(buffers_).subspan(place * largest_, static_cast<std::size_t>(bytes));
}

void MpiDuplex::release() {
  post(taken_ % kPosted);
  if (++taken_ % kMessagesPerReport != 0) return;
  take_report();  // MPICH sends to this rank itself only into a posted receive
  mpi_check(MPI_Send(nullptr, 0, MPI_BYTE, other_, kReportTag, communicator_), "MPI_Send");
}

}  // namespace eventloom
