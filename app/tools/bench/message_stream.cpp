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
      source_(plan.targets.size() * plan.queue * static_cast<std::size_t>(plan.message_bytes), std::byte{0x5a}),
      sink_(plan.senders.size() * plan.queue * static_cast<std::size_t>(plan.message_bytes)),
      sends_(plan.targets.size() * plan.queue, MPI_REQUEST_NULL),
      receives_(plan.senders.size() * plan.queue, MPI_REQUEST_NULL),
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

std::byte* MessageStream::buffer(std::vector<std::byte>& pool, int slot) const {
  return pool.data() + static_cast<std::size_t>(slot) * static_cast<std::size_t>(plan_.message_bytes);
}

void MessageStream::start_send(Target& target, int bytes) {
  const int slot = target.free.front();
  auto& request = sends_[static_cast<std::size_t>(slot)];
  mpi_check(MPI_Isend(buffer(source_, slot), bytes, MPI_BYTE, target.rank, kMessageTag, duplicate_.handle, &request),
            "MPI_Isend");
  target.free.pop_front();
  ++sending_;
}

bool MessageStream::send(std::size_t target) {
  if (targets_[target].free.empty()) return false;
  start_send(targets_[target], plan_.message_bytes);
  return true;
}

// Each receive slot gets one empty message, which ends it. No receive then remains to be cancelled, and a slot whose
// message arrives after the first mark still completes.
bool MessageStream::end(std::size_t target) {
  auto& to = targets_[target];
  for (; to.marks_left != 0 && !to.free.empty(); --to.marks_left) start_send(to, 0);
  return to.marks_left == 0;
}

void MessageStream::post_receive(int slot) {
  const int sender = plan_.senders[static_cast<std::size_t>(connection(slot))];
  auto& request = receives_[static_cast<std::size_t>(slot)];
  mpi_check(
      MPI_Irecv(buffer(sink_, slot), plan_.message_bytes, MPI_BYTE, sender, kMessageTag, duplicate_.handle, &request),
      "MPI_Irecv");
}

MessageStream::Progress MessageStream::advance() {
  Progress progress;
  if (receiving_ != 0) advance_receives(progress);
  if (sending_ != 0) advance_sends(progress);
  return progress;
}

void MessageStream::advance_receives(Progress& progress) {
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
    ++progress.messages;
    progress.bytes += static_cast<std::uint64_t>(bytes);
    post_receive(completed_[static_cast<std::size_t>(i)]);
  }
  progress.moved |= count > 0;
}

void MessageStream::advance_sends(Progress& progress) {
  int count = 0;
  mpi_check(
      MPI_Testsome(static_cast<int>(sends_.size()), sends_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE),
      "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    const int slot = completed_[static_cast<std::size_t>(i)];
    targets_[static_cast<std::size_t>(connection(slot))].free.push_back(slot);
    --sending_;
  }
  progress.moved |= count > 0;
}

}  // namespace eventloom
