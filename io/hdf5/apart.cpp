#include "io/hdf5/apart.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/subprocess.hpp"

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

/// Called by the child.
void limit_this_process(rlim_t mapped, std::chrono::seconds processor) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int death : kDeaths) std::signal(death, SIG_DFL);  // no crash report from MPI or UCX
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(processor.count()));
  limit(RLIMIT_AS, mapped + kMemory);
}

}  // namespace

ApartLimits ApartLimits::of_file(const std::string& path) {
  constexpr std::uint64_t kBytesPerSecond = 100'000'000;
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const std::uint64_t bytes = error ? 0 : size;
  const std::chrono::seconds more(bytes / kBytesPerSecond);
  ApartLimits limits;
  limits.processor += more;
  limits.clock += 3 * more;
  return limits;
}

std::optional<std::string> dies_apart(const std::function<void()>& work, const ApartLimits& limits) {
  std::optional<Subprocess> child;
  try {
    child.emplace([&work, &limits, mapped = mapped_bytes()] {
      limit_this_process(mapped, limits.processor);
      work();  // whose exceptions the caller gets, too
    });
  } catch (const UserError&) {  // it cannot be tried
    return std::nullopt;
  }
  const auto end = child->wait_until(std::chrono::steady_clock::now() + limits.clock);
  if (!end || end->signal == SIGXCPU) return kEndless;
  if (end->signal == 0) return std::nullopt;
  return "HDF5 crashes on it (" + std::string(strsignal(end->signal)) + ")";
}

}  // namespace eventloom
