#include "app/tools/doctor/shared_memory_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "app/command/shell_word.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "core/mpi/ucx_settings.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/memory.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* kShared = "shared memory";
constexpr std::string_view kFolder = "/dev/shm/";
/// UCX takes 8.3 MiB per rank, half of them when MPI starts, half with the first window (UCX 1.13 to 1.22).
constexpr std::uint64_t kToStart = std::uint64_t{9} << 20;
/// System V segments are not in /dev/shm.
constexpr const char* kWithoutIt = "; without root: export UCX_TLS=^posix";
/// Prefixes of UCX; of Open MPI's vader, sm and osc; of MPICH and Intel MPI; of PSM and PSM2.
constexpr std::array<std::string_view, 10> kSegmentNames = {
    "ucx_shm_posix_", "vader_segment.", "sm_segment.", "osc_sm.",  "osc_rdma.",
    "mpich_shm_",     "mpich_shar_tmp", "Intel_MPI_",  "psm_shm.", "psm2_shm."};
/// Unit: s. A process may be about to map a younger file.
constexpr std::time_t kLeastAge = 60;

/// Adds the name after "/dev/shm/" in a line. The name of a file removed meanwhile keeps its mark and matches no file.
void add_name(std::set<std::string>& names, const std::string& line) {
  const auto at = line.find(kFolder);
  if (at != std::string::npos) names.insert(line.substr(at + kFolder.size()));
}

void add_names_of(std::set<std::string>& names, const fs::path& process) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) add_name(names, line);
  std::error_code error;
  for (fs::directory_iterator fd(process / "fd", error), end; !error && fd != end; fd.increment(error)) {
    std::error_code gone;
    add_name(names, fs::read_symlink(fd->path(), gone).string());
  }
}

std::set<std::string> names_in_use(const fs::path& root) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root / "proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) add_names_of(names, entry->path());
  }
  return names;
}

bool may_be_left(const fs::path& file) {
  const auto name = file.filename().string();
  if (std::ranges::none_of(kSegmentNames, [&](std::string_view begin) { return name.starts_with(begin); }))
    return false;
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         status.st_mtime + kLeastAge <= std::time(nullptr);
}

std::vector<Finding> leftover_finding(const std::vector<fs::path>& files) {
  constexpr const char* kSubject = "leftovers";
  if (files.empty()) return {{.subject = kSubject, .what = "no files of killed runs in /dev/shm"}};
  std::uint64_t bytes = 0;
  std::string names;
  for (const auto& file : files) {
    std::error_code gone;
    const auto size = fs::file_size(file, gone);
    bytes += gone ? 0 : size;
    names += " " + shell_word(file.string());
  }
  Finding finding{.subject = kSubject, .level = FindingLevel::warning};
  finding.what = fmt::format("{} file{} of killed runs in /dev/shm, {}", files.size(), files.size() == 1 ? "" : "s",
                             in_mebibytes(bytes));
  finding.meaning = "they take memory until they are removed; no process that is visible here uses them";
  finding.fix = "rm --" + names;
  return {finding};
}

/// MPICH and Intel MPI have shared memory of their own.
bool is_of_ucx() { return !windows_fill_shared_memory(); }

/// Whether the user has configured UCX to avoid /dev/shm.
bool left_out_by_user() { return is_of_ucx() && !ucx_may_use("posix"); }

/// Returns errno of the error that prevents this user from creating files in /dev/shm; 0: none.
int refusal_of(const fs::path& root) { return ::access((root / "dev/shm").c_str(), W_OK | X_OK) == 0 ? 0 : errno; }

Finding refused_shared_memory(int error) {
  Finding finding{.subject = kShared, .level = FindingLevel::warning};
  finding.meaning = "ranks of a host exchange through it: MPI does not start";
  if (error == ENOENT) {
    finding.what = "there is no /dev/shm";
    finding.fix = "mount -t tmpfs tmpfs /dev/shm";
  } else {
    finding.what = std::string("cannot write in /dev/shm: ") + std::strerror(error);
    finding.fix = error == EROFS ? "mount -o remount,rw /dev/shm" : "chmod 1777 /dev/shm";
  }
  if (is_of_ucx()) finding.fix += kWithoutIt;
  return finding;
}

}  // namespace

Finding shared_memory_room(std::uint64_t capacity, std::uint64_t available, std::size_t ranks) {
  constexpr std::uint64_t kForRank = std::uint64_t{64} << 20;
  const auto free = static_cast<double>(available) / kMebibyte;
  Finding finding{.subject = kShared, .what = "{} free in /dev/shm", .measured = Measured{free, free, "MiB"}};
  if (available > kForRank * ranks) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = fmt::format("ranks of a host exchange through it, and need some {} for each: {} in all",
                                in_mebibytes(kForRank), in_mebibytes(kForRank * ranks));
  if (available < kToStart * ranks) {
    finding.meaning += fmt::format("; with less than {} MPI may not start", in_mebibytes(kToStart * ranks));
  }
  if (capacity > 2 * kForRank * ranks) {
    finding.fix = "ls -lS /dev/shm";
  } else {
    finding.fix = "mount -o remount,size=50% /dev/shm; of a container: docker run --shm-size=8g ...";
    if (is_of_ucx()) finding.fix += kWithoutIt;
  }
  return finding;
}

std::vector<fs::path> leftovers_in(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator file(root / "dev/shm", error), end; !error && file != end; file.increment(error)) {
    if (may_be_left(file->path())) found.push_back(file->path());
  }
  // Read after the files are listed: a process that starts meanwhile can only protect files.
  if (found.empty()) return found;
  const auto used = names_in_use(root);
  std::erase_if(found, [&](const fs::path& file) { return used.contains(file.filename().string()); });
  std::ranges::sort(found);
  return found;
}

std::string too_little_to_start(std::size_t ranks, const fs::path& root) {
  if (left_out_by_user()) return "";
  if (const int error = refusal_of(root); error != 0) return refused_shared_memory(error).what;
  std::error_code error;
  const auto available = fs::space(root / "dev/shm", error).available;
  return available >= kToStart * ranks ? "" : in_mebibytes(available) + " free in /dev/shm";
}

std::vector<Finding> check_shared_memory(std::size_t ranks, const fs::path& root) {
  auto findings = leftover_finding(leftovers_in(root));
  if (left_out_by_user()) {
    findings.push_back({.subject = kShared, .what = "left out by UCX_TLS"});
  } else if (const int error = refusal_of(root); error != 0) {
    findings.push_back(refused_shared_memory(error));
  } else {
    const auto space = fs::space(root / "dev/shm");
    findings.push_back(shared_memory_room(space.capacity, space.available, ranks));
  }
  return findings;
}

}  // namespace eventloom
