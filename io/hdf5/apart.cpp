#include "io/hdf5/apart.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

namespace eventloom {

namespace {

constexpr const char* kEndless = "HDF5 does not terminate on it";
constexpr rlim_t kMemory = rlim_t{4} << 30;
constexpr std::array kDeaths = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};

void limit(decltype(RLIMIT_CPU) what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(what, &now);
}

/// Bytes that the process has mapped: under a sanitizer, far more than it uses.
rlim_t mapped_bytes() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void work_and_leave(const std::function<void()>& work, rlim_t mapped, std::chrono::seconds processor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int death : kDeaths) std::signal(death, SIG_DFL);  // no crash report from MPI or UCX
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(processor.count()));
  limit(RLIMIT_AS, mapped + kMemory);
  try {
    work();
  } catch (...) {  // the caller gets the same exception when it repeats the work
  }
  _exit(0);
}

/// Returns the exit status of `child`, which it kills at `deadline`; std::nullopt when waiting fails.
std::optional<int> status_of(pid_t child, std::chrono::steady_clock::time_point deadline, bool& killed) {
  constexpr std::chrono::milliseconds kLongestNap{20};
  std::chrono::microseconds nap{100};
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, killed ? 0 : WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (killed) continue;
    killed = std::chrono::steady_clock::now() >= deadline;
    if (killed) kill(child, SIGKILL);
    std::this_thread::sleep_for(nap);
    nap = std::min<std::chrono::microseconds>(2 * nap, kLongestNap);
  }
}

}  // namespace

ApartLimits ApartLimits::of_file(std::uint64_t bytes) {
  constexpr std::uint64_t kBytesPerSecond = 100'000'000;
  const std::chrono::seconds more(bytes / kBytesPerSecond);
  ApartLimits limits;
  limits.processor += more;
  limits.clock += 3 * more;
  return limits;
}

std::optional<std::string> dies_apart(const std::function<void()>& work, const ApartLimits& limits) {
  const rlim_t mapped = mapped_bytes();
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) work_and_leave(work, mapped, limits.processor);
  bool killed = false;
  const auto status = status_of(child, std::chrono::steady_clock::now() + limits.clock, killed);
  if (!status || !WIFSIGNALED(*status)) return std::nullopt;
  const int signal = WTERMSIG(*status);
  if (killed || signal == SIGXCPU) return kEndless;
  return "HDF5 crashes on it (" + std::string(strsignal(signal)) + ")";
}

}  // namespace eventloom
