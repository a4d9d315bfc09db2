#include "core/mpi/mpi_message_channel.hpp"

#include <utility>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"

namespace eventloom {

namespace {

constexpr int kTag = 1;

}  // namespace

MpiMessageChannel::MpiMessageChannel(const Communicator& communicator) {
  mpi_check_reached(MPI_Comm_dup(communicator.handle(), &handle_), "MPI_Comm_dup", kAnyRank);
}

MpiMessageChannel::~MpiMessageChannel() {
  if (leaves_alone()) return;
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  MPI_Comm_free(&handle_);
}

void MpiMessageChannel::send(int to, std::span<const std::byte> data) {
  progress();
  const std::size_t slot = free_slot();
  auto& buffer = buffers_[slot];
  buffer.assign(data.begin(), data.end());
  mpi_check_reached(
      MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, to, kTag, handle_, &sends_[slot]),
      "MPI_Isend", to);
  free_.pop_back();
}

// Growing the vector of slots moves the buffers but not the bytes that MPI reads.
std::size_t MpiMessageChannel::free_slot() {
  if (free_.empty()) {
    free_.push_back(sends_.size());
    sends_.push_back(MPI_REQUEST_NULL);
    buffers_.emplace_back();
    completed_.push_back(0);
  }
  return free_.back();
}

void MpiMessageChannel::progress() {
  if (free_.size() == sends_.size()) return;
  int count = 0;
  mpi_check_reached(
      MPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome", kAnyRank);
  for (int i = 0; i < count; ++i) {
    free_.push_back(static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]));
  }
}

// Matching and receiving are separate steps: MPI_Recv of a large message could wait for its sender.
bool MpiMessageChannel::match() {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  mpi_check_reached(MPI_Improbe(MPI_ANY_SOURCE, kTag, handle_, &flag, &message, &status), "MPI_Improbe", kAnyRank);
  if (flag == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  arriving_.resize(static_cast<std::size_t>(bytes));
  mpi_check_reached(MPI_Imrecv(arriving_.data(), bytes, MPI_BYTE, &message, &incoming_), "MPI_Imrecv",
                    status.MPI_SOURCE);
  sender_ = status.MPI_SOURCE;
  return true;
}

std::optional<int> MpiMessageChannel::receive(std::vector<std::byte>& out) {
  if (sender_ == MPI_ANY_SOURCE && !match()) return std::nullopt;
  int flag = 0;
  mpi_check_reached(MPI_Test(&incoming_, &flag, MPI_STATUS_IGNORE), "MPI_Test", sender_);
  if (flag == 0) return std::nullopt;
  std::swap(out, arriving_);
  return std::exchange(sender_, MPI_ANY_SOURCE);
}

}  // namespace eventloom
