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

namespace eventloom {

namespace {

/// Of processor time: a slow disk is not a loop.
constexpr rlim_t kSeconds = 5;
constexpr rlim_t kMemory = rlim_t{4} << 30;
constexpr std::array kDeaths = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};

void limit(decltype(RLIMIT_CPU) what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min(most, now.rlim_max);
  setrlimit(what, &now);
}

/// What the process has mapped: under a sanitizer far more than there is.
rlim_t mapped_bytes() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void work_and_leave(const std::function<void()>& work, rlim_t mapped) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int death : kDeaths) std::signal(death, SIG_DFL);  // no report of MPI's or UCX's
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kSeconds);
  limit(RLIMIT_AS, mapped + kMemory);
  try {
    work();
  } catch (...) {  // the caller meets it again
  }
  _exit(0);
}

}  // namespace

std::optional<std::string> dies_apart(const std::function<void()>& work) {
  const rlim_t mapped = mapped_bytes();
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) work_and_leave(work, mapped);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  if (!WIFSIGNALED(status)) return std::nullopt;
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU) return "HDF5 does not come to an end on it";
  return "HDF5 crashes on it (" + std::string(strsignal(signal)) + ")";
}

}  // namespace eventloom
