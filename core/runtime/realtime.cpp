#include "core/runtime/realtime.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr int kPriority = 1;
constexpr unsigned kCapIpcLock = 14;  // linux/capability.h

constexpr const char* kAllowFifo = "'ulimit -r 1' (limits.conf: rtprio 1) or CAP_SYS_NICE allows it";

bool has_capability(unsigned number, const std::filesystem::path& root) {
  std::ifstream status(root / "proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return (std::strtoull(line.c_str() + std::strlen("CapEff:"), nullptr, 16) >> number & 1) != 0;
  }
  return false;
}

std::string cause() { return std::strerror(errno); }

}  // namespace

std::optional<std::uint64_t> lockable_bytes(const std::filesystem::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  if (has_capability(kCapIpcLock, root)) return std::nullopt;
  return limit.rlim_cur;
}

RealtimeRefusal lock_all_memory() {
  const std::string fix = "'ulimit -l unlimited' (limits.conf: memlock unlimited) or CAP_IPC_LOCK allows it";
  if (const auto limit = lockable_bytes()) {
    return {fmt::format("at most {} KiB may be locked", *limit / 1024), fix};
  }
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0) return {};
  return {"mlockall: " + cause(), errno == EPERM ? fix : ""};
}

RealtimeRefusal fifo_danger(const FifoLoad& load) {
  if (load.ranks * load.threads > load.cores) {
    const auto threads = load.threads == 1 ? "" : fmt::format(" with {} busy threads each", load.threads);
    return {fmt::format("{} rank{}{} poll on {} core{}: those that wait would keep the others from running", load.ranks,
                        load.ranks == 1 ? "" : "s", threads, load.cores, load.cores == 1 ? "" : "s"),
            "use fewer ranks or threads"};
  }
  if (load.left_to_others && *load.left_to_others <= 0) {
    return {"the kernel's limit for real-time programs is off: a polling rank would never give up its core",
            "'sysctl kernel.sched_rt_runtime_us=950000' leaves 5 % to all others"};
  }
  return {};
}

std::optional<double> left_to_others(const std::filesystem::path& root) {
  double runtime = 0;
  double period = 0;
  std::ifstream runtime_file(root / "proc/sys/kernel/sched_rt_runtime_us");
  std::ifstream period_file(root / "proc/sys/kernel/sched_rt_period_us");
  if (!(runtime_file >> runtime) || !(period_file >> period) || period <= 0) return std::nullopt;
  return runtime < 0 ? 0 : 1 - runtime / period;
}

RealtimeRefusal use_fifo() {
  const sched_param parameters{.sched_priority = kPriority};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0) return {};
  return {"sched_setscheduler: " + cause(), errno == EPERM ? kAllowFifo : ""};
}

// Runs on a separate thread, which ends: an unprivileged thread cannot clear SCHED_RESET_ON_FORK again.
RealtimeRefusal try_fifo() {
  RealtimeRefusal refusal;
  std::thread([&] { refusal = use_fifo(); }).join();
  return refusal;
}

RealtimeRefusal pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<unsigned>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return {"sched_setaffinity: " + cause(), ""};
}

}  // namespace eventloom
