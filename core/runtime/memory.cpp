#include "core/runtime/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKiB = 1024;
/// cgroup versions express "no limit" in different ways, one of them a number near this.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

/// The number after `key` at the start of a line.
std::optional<std::uint64_t> number_after(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t number = 0;
    if (words >> first && first == key && words >> number) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

struct CgroupFiles {
  const char* place;  ///< path of the hierarchy, relative to the root
  const char* limit;
  const char* used;
  const char* reclaimable;  ///< key in memory.stat
};
constexpr CgroupFiles kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr CgroupFiles kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                "total_inactive_file"};

std::optional<std::uint64_t> left_in(const fs::path& group, const CgroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  const auto used = number_in(group / files.used);
  if (!limit || !used || *limit >= kNoLimit) return std::nullopt;
  const auto cache = number_after(group / "memory.stat", files.reclaimable).value_or(0);
  const auto held = *used - std::min(*used, cache);
  return *limit - std::min(*limit, held);
}

/// Adds the bounds of the group at `path` and its ancestors. In a container the path may belong to another name space.
void add_cgroups(std::vector<MemoryBound>& bounds, const fs::path& root, const std::string& path,
                 const CgroupFiles& files) {
  const fs::path top = root / files.place;
  fs::path group = fs::path(path).lexically_normal();
  std::error_code error;
  if (!fs::exists(top / group.relative_path() / files.used, error)) group = "/";
  for (;; group = group.parent_path()) {
    if (const auto left = left_in(top / group.relative_path(), files)) {
      bounds.push_back({"left by the memory limit of the cgroup " + group.string(), *left});
    }
    if (!group.has_relative_path()) return;
  }
}

/// Parses lines "0::/path" (version 2) and "7:cpu,memory:/path" (version 1).
void add_cgroups(std::vector<MemoryBound>& bounds, const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const auto path = line.substr(second + 1);
    if (controllers == ",,") add_cgroups(bounds, root, path, kVersion2);
    if (controllers.find(",memory,") != std::string::npos) add_cgroups(bounds, root, path, kVersion1);
  }
}

void add_address_space(std::vector<MemoryBound>& bounds, const fs::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto used = number_after(root / "proc/self/status", "VmSize:").value_or(0) * kKiB;
  bounds.push_back({"allowed by the limit of the address space (ulimit -v)",
                    limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used), true});
}

}  // namespace

std::vector<MemoryBound> memory_there_is(const fs::path& root) {
  std::vector<MemoryBound> bounds;
  if (const auto free = number_after(root / "proc/meminfo", "MemAvailable:")) {
    bounds.push_back({"available on the host", *free * kKiB});
  }
  add_cgroups(bounds, root);
  add_address_space(bounds, root);
  return bounds;
}

std::optional<MemoryBound> least_of(const std::vector<MemoryBound>& bounds) {
  const auto least = std::ranges::min_element(bounds, {}, &MemoryBound::bytes);
  return least == bounds.end() ? std::nullopt : std::optional(*least);
}

std::uint64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB;
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string in_mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = kKiB * kKiB;
  constexpr std::array<const char*, 4> kUnits = {"MiB", "GiB", "TiB", "PiB"};
  std::uint64_t n = bytes / kMiB + (bytes % kMiB == 0 ? 0 : 1);
  std::size_t unit = 0;
  while (n >= 10 * kKiB && unit + 1 < kUnits.size()) {
    n = (n + kKiB - 1) / kKiB;
    ++unit;
  }
  return std::to_string(n) + " " + kUnits[unit];
}

}  // namespace eventloom
