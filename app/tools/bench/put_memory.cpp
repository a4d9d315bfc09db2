#include "app/tools/bench/put_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "app/tools/bench/bench_run.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace eventloom {

namespace {

/// Removes memory from the caches.
class Evictor {
 public:
  void evict(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    constexpr std::size_t kCacheLine = 64;
    for (std::size_t at = 0; at < bytes.size(); at += kCacheLine) _mm_clflush(bytes.data() + at);
    _mm_mfence();
#else
    // Other data replace the contents of the caches.
    if (other_.empty())
      other_.resize(4 * static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 32L << 20)));
    for (auto& byte : other_) byte ^= std::byte{1};
    asm volatile("" : : "r"(bytes.data()), "r"(other_.data()) : "memory");
#endif
  }

 private:
  std::vector<std::byte> other_;
};

}  // namespace

double put_ns(Transport& transport, int to, std::uint64_t bytes, PutMemory state, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kLeast = 11;
  constexpr std::size_t kMost = 100'000;
  const std::vector<std::byte> message(bytes, std::byte{1});
  Evictor evictor;
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < kLeast || (times.size() < kMost && Clock::now() < end)) {
    if (state == PutMemory::cold) evictor.evict(message);
    const auto begin = Clock::now();
    transport.put(to, 0, message);
    transport.flush(to);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return median(std::move(times));
}

}  // namespace eventloom
