// Every rank sends messages of all sizes to every rank, itself included, through rings that are smaller than many of
// them, and checks what it receives byte by byte. Exit code 0 if all checks pass.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "core/exchange/inbox.hpp"
#include "core/exchange/outbox.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/idle.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kSlices = 200;
constexpr RingGeometry kGeometry{4, 4096};

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
        transport_(communicator, credit_offset(ranks_)),
        inbox_(consumers()),
        assembler_(static_cast<std::size_t>(ranks_)),
        next_send_(static_cast<std::size_t>(ranks_)),
        sending_(static_cast<std::size_t>(ranks_)) {
    for (int to = 0; to < ranks_; ++to) {
      outboxes_.emplace_back(
          RingProducer({transport_, transport_}, to, ring_offset(communicator.rank()), credit_offset(to), kGeometry),
          Outbox::BodyCrc::all);
    }
  }

  bool run() {
    Idle idle;
    while (received_ < kSlices || !all_sent()) {
      const bool moved = send() + receive() != 0;
      transport_.progress();
      if (moved) {
        idle.reset();
      } else {
        transport_.flush_oldest();
        idle.wait();
      }
    }
    transport_.flush_all();
    const auto barrier = communicator_.barrier();
    while (!barrier->done()) idle.wait();
    return good_;
  }

 private:
  // In each window: the rings by sender, then the credit blocks by receiver.
  static std::uint64_t ring_offset(int sender) { return static_cast<std::uint64_t>(sender) * kGeometry.ring_bytes(); }
  [[nodiscard]] std::uint64_t credit_offset(int receiver) const {
    return ring_offset(ranks_) + static_cast<std::uint64_t>(receiver) * kCreditBytes;
  }
  std::vector<RingConsumer> consumers() {
    std::vector<RingConsumer> rings;
    for (int from = 0; from < ranks_; ++from) {
      rings.emplace_back(Windows{transport_, transport_}, from, ring_offset(from), credit_offset(communicator_.rank()),
                         kGeometry);
    }
    return rings;
  }

  std::size_t send() {
    std::size_t moved = 0;
    for (std::size_t to = 0; to < outboxes_.size(); ++to) {
      auto& outbox = outboxes_[to];
      if (next_send_[to] < kSlices && outbox.accepts({next_send_[to]})) {
        outbox.flush();  // the previous message may still be read from this memory
        sending_[to] = message(communicator_.rank(), static_cast<int>(to), next_send_[to]);
        outbox.start({{next_send_[to]}, static_cast<std::uint32_t>(communicator_.rank()), true, 0, {sending_[to]}});
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
    return cells;
  }

  void check(int from, std::span<const std::byte> body) {
    const auto expected = message(from, communicator_.rank(), received_);
    if (std::ranges::equal(body, expected)) return;
    std::fprintf(stderr, "slice %llu from rank %d is wrong\n", static_cast<unsigned long long>(received_), from);
    good_ = false;
  }

  [[nodiscard]] bool all_sent() const {
    const bool begun = std::ranges::all_of(next_send_, [](std::uint64_t n) { return n == kSlices; });
    return begun && std::ranges::all_of(outboxes_, [](const Outbox& outbox) { return outbox.free(); });
  }

  const Communicator& communicator_;
  int ranks_;
  MpiRmaTransport transport_;
  Inbox inbox_;
  SliceAssembler assembler_;
  std::vector<Outbox> outboxes_;
  std::vector<std::uint64_t> next_send_;
  std::vector<std::vector<std::byte>> sending_;
  std::uint64_t received_ = 0;
  bool good_ = true;
};

}  // namespace
}  // namespace eventloom

int main() {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  eventloom::AllToAll test(communicator);
  return test.run() ? 0 : 1;
}
