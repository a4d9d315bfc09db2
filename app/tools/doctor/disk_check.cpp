#include "app/tools/doctor/disk_check.hpp"

#include <fcntl.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkostemp is of POSIX
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "app/command/shell_word.hpp"
#include "app/tools/doctor/disk_refusal.hpp"
#include "core/runtime/format.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// A new file, opened twice, whose name is already removed.
struct NamelessFile {
  Descriptor first;
  Descriptor second;
  int error = 0;
};

NamelessFile nameless_file(const fs::path& folder) {
  NamelessFile file;
  auto name = (folder / "eventloom-doctor-XXXXXX").string();
  file.first = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (file.first.is_open()) file.second = Descriptor(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.second.is_open()) file.error = errno;
  if (file.first.is_open()) ::unlink(name.c_str());
  return file;
}

/// Returns bytes/s; 0 if a write fails or `most` is too small. Each piece reaches the disk before the next is written,
/// so that the measurement of a slow disk ends soon.
double write_speed(int file, std::uint64_t most) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kMostPieces = 16;
  constexpr auto kLongest = std::chrono::seconds(2);
  const std::vector<char> piece(std::size_t{16} << 20, 'e');
  const auto pieces = std::min(most / piece.size(), kMostPieces);
  const auto begun = Clock::now();
  double bytes = 0;
  for (std::uint64_t i = 0; i < pieces && Clock::now() - begun < kLongest; ++i) {
    if (::write(file, piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) return 0;
    if (::fdatasync(file) != 0) return 0;
    bytes += static_cast<double>(piece.size());
  }
  return bytes / std::chrono::duration<double>(Clock::now() - begun).count();
}

Finding space_finding(const DiskTrial& trial) {
  constexpr double kLittle = 1024 * kMebibyte;
  const auto free = static_cast<double>(trial.free_bytes);
  Finding finding{.subject = "disk space", .what = "{} free in '" + trial.folder.string() + "'"};
  finding.measured = Measured{free / kMebibyte, free / kMebibyte, "MiB"};
  if (free >= kLittle) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = "a run stops cleanly when the disk is full";
  finding.fix = "df -h " + shell_word(trial.folder.string());
  return finding;
}

Finding speed_finding(const DiskTrial& trial) {
  constexpr double kSlow = 100e6;
  if (trial.bytes_per_s == 0) {
    return {.subject = "disk speed", .level = FindingLevel::note, .what = "not measured: too little space"};
  }
  const auto speed = trial.bytes_per_s / 1e6;
  Finding finding{
      .subject = "disk speed", .what = "{} written to the disk", .measured = Measured{speed, speed, "MB/s"}};
  if (trial.bytes_per_s >= kSlow) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = "writers wait for the disk, and all others for them";
  finding.fix = "eventloom run --scratch DIR ... with a folder on a faster disk of each node";
  return finding;
}

Finding lock_finding(bool locks) {
  if (locks) return {.subject = "file locks", .what = "keep a second run out"};
  return {.subject = "file locks",
          .level = FindingLevel::warning,
          .what = "this file system has none",
          .meaning = "two runs with the same --output are not kept apart",
          .fix = "mount -o remount,flock ... (Lustre), or another --output"};
}

}  // namespace

DiskTrial try_disk(const fs::path& output) {
  DiskTrial trial;
  trial.folder = folder_of_output(output);
  const auto file = nameless_file(trial.folder);
  trial.error = file.error;
  if (trial.error != 0) return trial;
  std::error_code error;
  trial.free_bytes = fs::space(trial.folder, error).available;
  trial.locks = lock_file(file.first.number()) && !lock_file(file.second.number());
  trial.bytes_per_s = write_speed(file.first.number(), trial.free_bytes / 4);
  return trial;
}

std::optional<DiskTrial> try_disk_within(const fs::path& output, std::chrono::milliseconds limit) {
  auto task = std::make_shared<std::packaged_task<DiskTrial()>>([output] { return try_disk(output); });
  auto trial = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (trial.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return trial.get();
}

std::vector<Finding> disk_findings(const fs::path& output, const std::optional<DiskTrial>& trial) {
  Finding refused{.subject = "disk", .level = FindingLevel::warning};
  if (!trial) {
    refused.what = "no answer in '" + output.string() + "'; space, speed and locks not checked";
    refused.meaning = "a run would hang there";
    refused.fix = "df -h " + shell_word(output.string());
    return {refused};
  }
  if (trial->error != 0) {
    refused.what = "cannot write in '" + trial->folder.string() + "': " + std::strerror(trial->error) +
                   "; space, speed and locks not checked";
    refused.meaning = "a run could not create its output there";
    refused.fix = fix_of_refusal(trial->folder, trial->error);
    return {refused};
  }
  return {space_finding(*trial), speed_finding(*trial), lock_finding(trial->locks)};
}

}  // namespace eventloom
