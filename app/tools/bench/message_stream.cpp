#include "app/tools/bench/message_stream.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"

namespace eventloom {

namespace {

constexpr int kGreetingTag = 1;
constexpr int kMessageTag = 2;

}  // namespace

MessageStream::Duplicate::Duplicate(MPI_Comm original) { mpi_check(MPI_Comm_dup(original, &handle), "MPI_Comm_dup"); }

MessageStream::Duplicate::~Duplicate() {
  if (!leaves_alone()) MPI_Comm_free(&handle);
}

MessageStream::MessageStream(const Communicator& communicator, const Plan& plan)
    : plan_(plan),
      duplicate_(communicator.handle()),
      // Filled here, so that the pages exist before the clock starts.
      sink_(plan.senders.size() * plan.queue * static_cast<std::size_t>(plan.largest)),
      sends_(plan.targets.size() * plan.queue, MPI_REQUEST_NULL),
      receives_(plan.senders.size() * plan.queue, MPI_REQUEST_NULL),
      numbers_(receives_.size()),
      posted_(plan.senders.size()),
      completed_(std::max(sends_.size(), receives_.size())),
      statuses_(receives_.size()),
      receiving_(receives_.size()) {
  int slot = 0;
  for (const int rank : plan.targets) {
    Target target{rank, std::deque<int>(plan.queue), plan.queue};
    std::iota(target.free.begin(), target.free.end(), slot);
    targets_.push_back(std::move(target));
    slot += static_cast<int>(plan.queue);
  }
  greet();
  for (slot = 0; slot < static_cast<int>(receives_.size()); ++slot) post_receive(slot);
}

void MessageStream::greet() {
  std::vector<MPI_Request> requests(plan_.senders.size() + plan_.targets.size(), MPI_REQUEST_NULL);
  auto request = requests.begin();
  for (const int rank : plan_.senders) {
    mpi_check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, kGreetingTag, duplicate_.handle, &*request++), "MPI_Irecv");
  }
  for (const int rank : plan_.targets) {
    mpi_check(MPI_Isend(nullptr, 0, MPI_BYTE, rank, kGreetingTag, duplicate_.handle, &*request++), "MPI_Isend");
  }
  mpi_check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

std::byte* MessageStream::buffer(int slot) {
  return sink_.data() + static_cast<std::size_t>(slot) * static_cast<std::size_t>(plan_.largest);
}

void MessageStream::start_send(Target& target, std::span<const std::byte> message) {
  const int slot = target.free.front();
  auto& request = sends_[static_cast<std::size_t>(slot)];
  mpi_check(MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, target.rank, kMessageTag,
                      duplicate_.handle, &request),
            "MPI_Isend");
  target.free.pop_front();
  ++sending_;
}

bool MessageStream::send(std::size_t target, std::span<const std::byte> message) {
  if (targets_[target].free.empty()) return false;
  start_send(targets_[target], message);
  return true;
}

// Each receive slot gets one empty message, which ends it. No receive then remains to be cancelled, and a slot whose
// message arrives after the first mark still completes.
bool MessageStream::end(std::size_t target) {
  auto& to = targets_[target];
  for (; to.marks_left != 0 && !to.free.empty(); --to.marks_left) start_send(to, {});
  return to.marks_left == 0;
}

void MessageStream::post_receive(int slot) {
  const auto from = static_cast<std::size_t>(connection(slot));
  auto& request = receives_[static_cast<std::size_t>(slot)];
  numbers_[static_cast<std::size_t>(slot)] = posted_[from]++;
  mpi_check(
      MPI_Irecv(buffer(slot), plan_.largest, MPI_BYTE, plan_.senders[from], kMessageTag, duplicate_.handle, &request),
      "MPI_Irecv");
}

bool MessageStream::advance(const std::function<void(const Received&)>& take) {
  const bool received = receiving_ != 0 && advance_receives(take);
  const bool sent = sending_ != 0 && advance_sends();
  return received || sent;
}

bool MessageStream::advance_receives(const std::function<void(const Received&)>& take) {
  int count = 0;
  mpi_check(
      MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &count, completed_.data(), statuses_.data()),
      "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    int bytes = 0;
    MPI_Get_count(&statuses_[static_cast<std::size_t>(i)], MPI_BYTE, &bytes);
    if (bytes == 0) {
      --receiving_;
      continue;
    }
    const int slot = completed_[static_cast<std::size_t>(i)];
    take({static_cast<std::size_t>(connection(slot)),
          numbers_[static_cast<std::size_t>(slot)],
          {buffer(slot), static_cast<std::size_t>(bytes)}});
    post_receive(slot);
  }
  return count > 0;
}

bool MessageStream::advance_sends() {
  int count = 0;
  mpi_check(
      MPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    const int slot = completed_[static_cast<std::size_t>(i)];
    targets_[static_cast<std::size_t>(connection(slot))].free.push_back(slot);
    --sending_;
  }
  return count > 0;
}

}  // namespace eventloom
