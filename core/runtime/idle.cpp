#include "core/runtime/idle.hpp"

#include <sched.h>

#include <chrono>
#include <thread>

namespace eventloom {

namespace {

constexpr std::uint32_t kSpins = 20;
constexpr std::uint32_t kYields = 20'000;
constexpr auto kNap = std::chrono::microseconds(50);

}  // namespace

void Idle::wait_until(std::chrono::steady_clock::time_point) {
  ++idle_;
  if (idle_ < kSpins) return;
  if (idle_ < kYields) {
    sched_yield();
    return;
  }
  idle_ = kYields;
  std::this_thread::sleep_for(kNap);
}

}  // namespace eventloom
