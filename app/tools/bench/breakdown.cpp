#include "app/tools/bench/breakdown.hpp"

#include <chrono>
#include <cstring>
#include <span>

#include "app/tools/bench/bench_run.hpp"
#include "core/ring/ring_consumer.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// Returns the time of one step in ns, the median over several loops. `loop` repeats the step `n` times.
template <class Loop>
double step_ns(int n, Loop loop) {
  std::vector<double> ns;
  for (int i = 0; i < 11; ++i) {
    const auto start = std::chrono::steady_clock::now();
    loop(n);
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n);
  }
  return median(ns);
}

/// The steps of one message's path to the window of rank `to`, each measured separately on this rank.
class Breakdown {
 public:
  Breakdown(Transport& transport, int to, std::uint64_t message)
      : transport_(transport), to_(to), message_(message), staging_(message), notes_(64) {}

  std::vector<std::pair<std::string, double>> measure() {
    std::vector<std::pair<std::string, double>> steps;
    const std::span<const std::byte> note(notes_);
    steps.emplace_back("send: copy to staging", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) copy();
                       }));
    steps.emplace_back("send: checksum of the body", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) keep(crc32c(message_));
                       }));
    steps.emplace_back("send: header", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i)
                           ChunkHeader{.slice = static_cast<std::uint64_t>(i)}.store(notes_.data(), 1);
                       }));
    steps.emplace_back("send: MPI_Put of the body", step_ns(500, [&](int n) { put(message_, n, n); }));
    steps.emplace_back("send: MPI_Put of 16 bytes", step_ns(500, [&](int n) { put(note.first(16), n, n); }));
    steps.emplace_back("send: MPI_Put of 16 bytes + MPI_Win_flush",
                       step_ns(500, [&](int n) { put(note.first(16), n, 1); }));
    steps.emplace_back("receive: look for a descriptor in vain", step_ns(2000, [&](int n) {
                         RingConsumer ring({transport_, transport_}, to_, 0, 0, {8, 4096});
                         for (int i = 0; i < n; ++i) keep(ring.poll().has_value() ? 1 : 0);
                       }));
    steps.emplace_back("receive: MPI_Win_sync", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) transport_.sync();
                       }));
    steps.emplace_back("receive: header", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) keep(ChunkHeader::load(notes_.data(), 1).has_value() ? 1 : 0);
                       }));
    steps.emplace_back("either: progress (MPI_Iprobe)", step_ns(2000, [&](int n) {
                         for (int i = 0; i < n; ++i) transport_.progress();
                       }));
    return steps;
  }

 private:
  static void keep(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }
  void copy() {
    std::memcpy(staging_.data(), message_.data(), message_.size());
    asm volatile("" : : "r"(staging_.data()) : "memory");
  }
  void put(std::span<const std::byte> data, int n, int between_flushes) {
    for (int i = 1; i <= n; ++i) {
      transport_.put(to_, kStepOffset, data);
      if (i % between_flushes == 0) transport_.flush(to_);
    }
  }

  Transport& transport_;
  int to_;
  std::vector<std::byte> message_;
  std::vector<std::byte> staging_;
  std::vector<std::byte> notes_;
};

}  // namespace

std::vector<Step> measure_steps(Transport& transport, int to, std::uint64_t message) {
  return Breakdown(transport, to, message).measure();
}

}  // namespace eventloom
