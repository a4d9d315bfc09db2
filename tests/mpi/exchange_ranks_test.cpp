// Every rank sends messages of all sizes to every rank, itself included, through rings that are smaller than many of
// them, and checks what it receives byte by byte. Exit code 0 if all checks pass.
// usage: exchange_ranks_test [far]     far: two ranks at a time have a host name of their own, so that they exchange
// with the others as between hosts, without a flush; exit code 77 if the system forbids that

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/exchange/inbox.hpp"
#include "core/exchange/message_memory.hpp"
#include "core/exchange/outbox.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/mpi_control_window.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kSlices = 200;
constexpr RingGeometry kGeometry{4, 4096};
constexpr int kSkipped = 77;

/// The message from one rank to another for a slice: both compute it without communicating.
std::vector<std::byte> message(int from, int to, std::uint64_t slice) {
  std::mt19937_64 random(slice * 10'007 + static_cast<std::uint64_t>(from) * 101 + static_cast<std::uint64_t>(to));
  constexpr std::size_t kSizes[] = {0, 1, 100, 4000, 4096, 10'000, 60'000};
  std::vector<std::byte> bytes(kSizes[random() % std::size(kSizes)]);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

class AllToAll {
 public:
  explicit AllToAll(const Communicator& communicator)
      : communicator_(communicator),
        ranks_(communicator.size()),
        data_(communicator, ring_offset(ranks_)),
        control_(communicator, credit_offset(ranks_)),
        inbox_(consumers()),
        assembler_(static_cast<std::size_t>(ranks_)),
        next_send_(static_cast<std::size_t>(ranks_)),
        memory_(static_cast<std::size_t>(ranks_)) {
    for (int to = 0; to < ranks_; ++to) {
      outboxes_.emplace_back(
          RingProducer({data_, control_}, to, ring_offset(communicator.rank()), credit_offset(to), kGeometry),
          Outbox::BodyCrc::all);
    }
  }

  bool run() {
    Idle idle;
    while (received_ < kSlices || !all_sent()) {
      const bool moved = send() + receive() != 0;
      progress();
      if (moved) {
        idle.reset();
      } else {
        data_.flush_near();
        control_.flush_near();
        idle.wait();
      }
    }
    check_flushes();
    data_.flush_all();
    control_.flush_all();
    const auto barrier = communicator_.barrier();
    while (!barrier->done()) progress();
    return good_;
  }

 private:
  // The windows hold the rings by sender, and the credit blocks by receiver.
  static std::uint64_t ring_offset(int sender) { return static_cast<std::uint64_t>(sender) * kGeometry.ring_bytes(); }
  static std::uint64_t credit_offset(int receiver) { return static_cast<std::uint64_t>(receiver) * kCreditBytes; }
  std::vector<RingConsumer> consumers() {
    std::vector<RingConsumer> rings;
    for (int from = 0; from < ranks_; ++from) {
      rings.emplace_back(Windows{data_, control_}, from, ring_offset(from), credit_offset(communicator_.rank()),
                         kGeometry);
    }
    return rings;
  }

  void progress() {
    data_.progress();
    control_.progress();
  }

  std::size_t send() {
    std::size_t moved = 0;
    for (std::size_t to = 0; to < outboxes_.size(); ++to) {
      auto& outbox = outboxes_[to];
      if (next_send_[to] < kSlices && outbox.accepts({next_send_[to]})) {
        auto& sending = memory_[to].next(outbox);
        sending = message(communicator_.rank(), static_cast<int>(to), next_send_[to]);
        outbox.start({{next_send_[to]}, static_cast<std::uint32_t>(communicator_.rank()), true, 0, {sending}});
        ++next_send_[to];
      }
      moved += outbox.pump() ? 1 : 0;
      outbox.publish();
    }
    return moved;
  }

  std::size_t receive() {
    const std::size_t cells = inbox_.drain(assembler_);
    while (received_ < kSlices && assembler_.complete({received_})) {
      auto slice = assembler_.take({received_});
      for (int from = 0; from < ranks_; ++from) check(from, slice->part(static_cast<std::size_t>(from)).body());
      assembler_.recycle(std::move(slice));
      ++received_;
    }
    inbox_.grant({received_ + 3}, true);
    inbox_.grant_far(std::chrono::steady_clock::now());
    return cells;
  }

  void check(int from, std::span<const std::byte> body) {
    const auto expected = message(from, communicator_.rank(), received_);
    if (std::ranges::equal(body, expected)) return;
    std::fprintf(stderr, "slice %llu from rank %d is wrong\n", static_cast<unsigned long long>(received_), from);
    good_ = false;
  }

  void check_flushes() {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (data_.is_near(rank) || data_.rounds(rank) == 0) continue;
      std::fprintf(stderr, "rank %d on another host was flushed\n", rank);
      good_ = false;
    }
  }

  [[nodiscard]] bool all_sent() const {
    const bool begun = std::ranges::all_of(next_send_, [](std::uint64_t n) { return n == kSlices; });
    return begun && std::ranges::all_of(outboxes_, [](const Outbox& outbox) { return outbox.free(); });
  }

  const Communicator& communicator_;
  int ranks_;
  MpiRmaTransport data_;
  MpiControlWindow control_;
  Inbox inbox_;
  SliceAssembler assembler_;
  std::vector<Outbox> outboxes_;
  std::vector<std::uint64_t> next_send_;
  std::vector<MessageMemory<std::vector<std::byte>>> memory_;  ///< of the messages to each rank
  std::uint64_t received_ = 0;
  bool good_ = true;
};

/// Sets it for this thread only. Returns false if the system forbids it.
bool set_host_name(const std::string& name) {
  return unshare(CLONE_NEWUTS) == 0 && sethostname(name.data(), name.size()) == 0;
}

}  // namespace
}  // namespace eventloom

int main(int argc, char** argv) {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  const bool far = argc > 1 && std::string(argv[1]) == "far";
  if (far && !eventloom::set_host_name("h" + std::to_string(communicator.rank() / 2))) return eventloom::kSkipped;
  eventloom::AllToAll test(communicator);
  return test.run() ? 0 : 1;
}
