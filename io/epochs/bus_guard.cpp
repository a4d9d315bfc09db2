#include "io/epochs/bus_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <stdexcept>

namespace eventloom {

namespace {

/// One watched mapping. The signal handler reads it, so all members are lock-free.
struct Watched {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: the slot is free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> lost{false};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// More slots than a rank has file descriptors for its sources.
std::array<Watched, 65536> watched;
std::atomic<std::size_t> used{0};  ///< number of slots ever taken
struct sigaction previous;
std::uintptr_t page_bytes = 0;

/// mmap is not async-signal-safe according to POSIX, but on Linux it is a plain system call, and the fault comes from
/// reading mapped memory, never from within the C library.
bool replace_page(void* address) {
  auto* page = static_cast<char*>(address) - reinterpret_cast<std::uintptr_t>(address) % page_bytes;
  return mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::size_t n = used.load();
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = watched[i].begin.load();
    if (begin == 0 || address < begin || address >= watched[i].end.load()) continue;
    watched[i].lost.store(true);
    if (replace_page(info->si_addr)) return;
  }
  // Not ours: restore the previous handler, which the recurring fault then reaches.
  sigaction(signal, &previous, nullptr);
}

void install() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

std::mutex& places() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

BusGuard::BusGuard(std::span<const std::byte> mapping) : place_(0) {
  static std::once_flag once;
  std::call_once(once, install);
  const std::lock_guard lock(places());
  while (place_ < watched.size() && watched[place_].begin.load() != 0) ++place_;
  if (place_ == watched.size()) throw std::runtime_error("too many files are mapped at once");
  auto& mine = watched[place_];
  mine.lost.store(false);
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  mine.end.store(begin + mapping.size());
  mine.begin.store(begin);
  if (used.load() <= place_) used.store(place_ + 1);
}

BusGuard::~BusGuard() {
  const std::lock_guard lock(places());
  watched[place_].begin.store(0);
}

bool BusGuard::lost() const { return watched[place_].lost.load(); }

}  // namespace eventloom
