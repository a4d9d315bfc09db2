// Exchange between two ranks beside a bare MPI_Put + MPI_Win_flush loop of the same message size and
// footprint, in the same run, in turn:
//   mpirun -np 2 exchange_benchmark [REPEATS [MESSAGE_BYTES]]
// Prints medians in MB/s (1e6 bytes) and the share of the bare loop.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "core/exchange/inbox.hpp"
#include "core/exchange/outbox.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/transport/mpi_rma_transport.hpp"

namespace eventloom {
namespace {

constexpr std::uint64_t kBytesPerRepeat = 512ULL << 20;

struct Setting {
  std::uint32_t message_bytes;
  std::uint32_t depth;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One pair of ranks with a window that holds a ring; rank 0 sends to rank 1.
class Pair {
 public:
  Pair(const Communicator& communicator, Setting setting)
      : communicator_(communicator),
        setting_(setting),
        geometry_{setting.depth, setting.message_bytes + 64},
        transport_(communicator, communicator.rank() == 1 ? geometry_.ring_bytes() : kCreditBytes),
        // As many messages in memory as the ring has cells: the source has the ring's footprint.
        source_(std::size_t{setting.depth} * setting.message_bytes, std::byte{0x5a}) {
    messages_ = std::clamp<std::uint64_t>(kBytesPerRepeat / setting.message_bytes, 1000, 200'000);
    std::iota(reinterpret_cast<std::uint8_t*>(source_.data()), reinterpret_cast<std::uint8_t*>(source_.data()) + 4096,
              0);
  }

  /// MPI_Put and MPI_Win_flush for each message, round the same cells; nobody looks at them.
  double bare() {
    return timed([&] {
      if (communicator_.rank() != 0) return;
      for (std::uint64_t i = 0; i < messages_; ++i) {
        transport_.put(1, geometry_.cell_offset(i), message(i));
        transport_.flush(1);
      }
    });
  }

  /// The rings with credits, notifications and checked headers; the receiver releases each cell.
  double exchange() {
    return timed([&] { communicator_.rank() == 0 ? send() : receive_cells(); });
  }

  /// As a builder does it: checked, copied out and put together to slices.
  double assembled() {
    return timed([&] { communicator_.rank() == 0 ? send() : assemble(); });
  }

 private:
  std::span<const std::byte> message(std::uint64_t i) const {
    return std::span(source_).subspan(i % setting_.depth * setting_.message_bytes, setting_.message_bytes);
  }

  /// MB/s from before the first to after the last message, rings new and empty.
  double timed(const std::function<void()>& work) {
    auto window = transport_.window();
    std::fill(window.begin(), window.end(), std::byte{});
    wait_for_all();
    const double seconds = seconds_of([&] {
      work();
      wait_for_all();
    });
    return static_cast<double>(messages_ * setting_.message_bytes) / seconds / 1e6;
  }

  void wait_for_all() {
    const auto barrier = communicator_.barrier();
    while (!barrier->done()) {
    }
  }

  void send() {
    Outbox outbox(RingProducer({transport_, transport_}, 1, 0, 0, geometry_), Outbox::BodyCrc::staged);
    for (std::uint64_t i = 0; i < messages_;) {
      std::uint32_t batch = 0;
      for (; i < messages_ && batch < std::max(1U, setting_.depth / 2) && outbox.accepts({i}); ++i, ++batch) {
        outbox.start({{i}, 0, true, 0, {message(i)}});
        if (outbox.pump(); !outbox.free()) {
          ++i;
          break;
        }
      }
      outbox.pump();
      outbox.publish();
      transport_.progress();
    }
    while (!outbox.free()) {
      outbox.pump();
      outbox.publish();
      transport_.progress();
    }
    outbox.flush();
  }

  void receive_cells() {
    RingConsumer ring({transport_, transport_}, 0, 0, 0, geometry_);
    ring.set_slice_limit(messages_);
    ring.grant(true);
    std::vector<Chunk> chunks;
    for (std::uint64_t bytes = 0; bytes < messages_ * setting_.message_bytes;) {
      const auto cell = ring.poll();
      if (!cell || !read_chunks(*cell, chunks)) {
        ring.grant(true);
        transport_.progress();
        continue;
      }
      for (const auto& chunk : chunks) bytes += chunk.header.bytes;
      ring.release();
      ring.grant(false);
    }
    transport_.flush_all();
  }

  void assemble() {
    Inbox inbox({RingConsumer({transport_, transport_}, 0, 0, 0, geometry_)});
    SliceAssembler assembler(1);
    for (std::uint64_t next = 0; next < messages_;) {
      const auto cells = inbox.drain(assembler);
      while (next < messages_ && assembler.complete({next})) assembler.recycle(assembler.take({next++}));
      inbox.grant({next + 2ULL * setting_.depth + 64}, cells == 0);
      if (cells == 0) transport_.progress();
    }
    transport_.flush_all();
  }

  const Communicator& communicator_;
  Setting setting_;
  RingGeometry geometry_;
  MpiRmaTransport transport_;
  std::vector<std::byte> source_;
  std::uint64_t messages_ = 0;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const Communicator& communicator, Setting setting, int repeats) {
  Pair pair(communicator, setting);
  std::vector<double> bare;
  std::vector<double> exchange;
  std::vector<double> assembled;
  std::vector<double> exchange_share;
  std::vector<double> assembled_share;
  pair.exchange();  // warm-up
  for (int r = 0; r < repeats; ++r) {
    bare.push_back(pair.bare());
    exchange.push_back(pair.exchange());
    assembled.push_back(pair.assembled());
    exchange_share.push_back(100 * exchange.back() / bare.back());
    assembled_share.push_back(100 * assembled.back() / bare.back());
  }
  if (communicator.rank() != 0) return;
  std::printf("%9u x %-4u %10.0f %10.0f %6.0f %% %10.0f %6.0f %%\n", setting.message_bytes, setting.depth, median(bare),
              median(exchange), median(exchange_share), median(assembled), median(assembled_share));
  std::fflush(stdout);
}

}  // namespace
}  // namespace eventloom

int main(int argc, char** argv) {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  if (communicator.size() != 2) {
    std::fprintf(stderr, "exchange_benchmark needs 2 ranks\n");
    return 2;
  }
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 5;
  if (communicator.rank() == 0) {
    std::printf("medians of %d; MB/s\n%9s x %-4s %10s %10s %8s %10s %8s\n", repeats, "message", "ring", "bare put",
                "exchange", "share", "assembled", "share");
  }
  for (const std::uint32_t message : {1024U, 4096U, 16384U, 65536U, 262144U, 1048576U}) {
    if (argc > 2 && static_cast<std::uint32_t>(std::atoi(argv[2])) != message) continue;
    for (const std::uint32_t depth : {4U, 8U, 16U, 32U}) {
      eventloom::measure(communicator, {message, depth}, repeats);
    }
  }
  return 0;
}
