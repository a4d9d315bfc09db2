#include "app/tools/bench/waiter.hpp"

#include <sched.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace eventloom {

namespace {

constexpr std::array<std::pair<std::string_view, Wait>, 4> kWaits = {
    {{"poll", Wait::poll}, {"yield", Wait::yield}, {"sleep", Wait::sleep}, {"timer", Wait::timer}}};
constexpr auto kNap = std::chrono::microseconds(5);
constexpr timespec kPeriod{.tv_sec = 0, .tv_nsec = 10'000};

}  // namespace

Wait parse_wait(const std::string& name) {
  for (const auto& [known, wait] : kWaits) {
    if (known == name) return wait;
  }
  throw std::invalid_argument("'" + name + "' is not poll, yield, sleep or timer");
}

Waiter::Waiter(Wait wait) : wait_(wait) {
  if (wait != Wait::timer) return;
  timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec periodic{.it_interval = kPeriod, .it_value = kPeriod};
  if (!timer_.is_open() || ::timerfd_settime(timer_.number(), 0, &periodic, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "a timer to wait with");
  }
}

void Waiter::wait() {
  switch (wait_) {
    case Wait::poll: return;
    case Wait::yield: ::sched_yield(); return;
    case Wait::sleep: std::this_thread::sleep_for(kNap); return;
    case Wait::timer: break;
  }
  std::uint64_t expirations = 0;
  // Interrupted by a signal, the wait ends early: the caller polls and waits again.
  [[maybe_unused]] const auto bytes = ::read(timer_.number(), &expirations, sizeof expirations);
}

}  // namespace eventloom
