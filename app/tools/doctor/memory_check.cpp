#include "app/tools/doctor/memory_check.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include "app/tools/doctor/exchange_check.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

Finding memory_left(const fs::path& root) {
  constexpr double kLittle = 512 * kMebibyte;
  const auto bound = least_of(memory_there_is(root));
  if (!bound) return {.subject = "memory", .level = FindingLevel::note, .what = "unknown: no /proc/meminfo"};
  const auto bytes = static_cast<double>(bound->bytes);
  Finding finding{.subject = "memory", .what = "{} " + bound->what};
  finding.measured = Measured{bytes / kMebibyte, bytes / kMebibyte, "MiB"};
  if (bytes >= kLittle) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = "rings and slices in flight may not fit";
  finding.fix = "eventloom plan --memory-per-node " + fmt::format("{:.0f}MiB ...", bytes / kMebibyte);
  return finding;
}

/// Returns the bracketed choice of a line such as "always [madvise] never".
std::string chosen_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const auto open = line.find('[');
  const auto close = line.find(']');
  return open == std::string::npos || close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

Finding huge_pages(const fs::path& root) {
  constexpr const char* kSetting = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto chosen = chosen_in(root / std::string(kSetting).substr(1));
  Finding finding{.subject = "huge pages", .what = "transparent: " + (chosen.empty() ? "unknown" : chosen)};
  if (chosen != "never") return finding;
  finding.level = FindingLevel::note;
  finding.meaning = "windows and slices of many MiB cost more time for page tables";
  finding.fix = std::string("echo madvise > ") + kSetting;
  return finding;
}

std::optional<std::uint64_t> lock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

Finding locked_memory(std::optional<std::uint64_t> limit, bool rdma) {
  Finding finding{.subject = "locked memory", .what = limit ? "up to " + in_mebibytes(*limit) : "without limit"};
  if (!rdma) finding.what += "; matters for --realtime, and for RDMA, which this host lacks";
  if (!rdma || !limit) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = "RDMA locks the windows of each rank: registration fails, or falls back to slower ways";
  finding.fix = "ulimit -l unlimited";
  return finding;
}

std::vector<Finding> check_memory(const fs::path& root) {
  return {memory_left(root), locked_memory(lock_limit(), has_rdma(root)), huge_pages(root)};
}

}  // namespace eventloom
