#include "io/run_output/disk_reserve.hpp"

#include <fcntl.h>

#include <chrono>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/runtime/log.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/folder.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_format/run_names.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kReserveHeader = "eventloom-disk-reserve 1\n";
/// More than run.h5 with a thousand parts, and lists of as many.
constexpr off_t kReserveBytes = off_t{2} << 20;

/// How long to try again to write on a full disk that other writers are about to leave.
constexpr auto kOthersLeave = std::chrono::seconds(5);
constexpr auto kLookForSpace = std::chrono::milliseconds(20);

std::filesystem::path reserve_of(const std::filesystem::path& run_file) {
  return folder_of(run_file) / disk_reserve_name(run_file);
}

}  // namespace

std::string disk_reserve_name(const std::filesystem::path& run_file) { return run_file.stem().string() + ".reserve"; }

bool is_disk_reserve(const std::filesystem::path& file) {
  return head_of(file, kReserveHeader.size()) == kReserveHeader;
}

void take_disk_reserve(const std::filesystem::path& run_file) {
  try {
    PartialFile file(reserve_of(run_file), is_disk_reserve);
    file.write(std::as_bytes(std::span(kReserveHeader)));
    if (::posix_fallocate(file.descriptor(), 0, kReserveBytes) != 0) throw DiskFull("no space for a reserve");
    file.publish();
  } catch (const DiskFull&) {
    log::warn(
        "the disk of '{}' has too little space: part files go to the folder of --output-next, and links beside "
        "the run file lead to them",
        run_file.string());
  }
}

void mark_disk_full(const std::filesystem::path& run_file) {
  const auto reserve = reserve_of(run_file);
  std::error_code marked_by_another;
  std::filesystem::rename(reserve, reserve.string() + kPartial, marked_by_another);
}

bool is_marked_full(const std::filesystem::path& run_file) { return !is_there(reserve_of(run_file)); }

void use_disk_reserve(const std::filesystem::path& run_file, const std::function<void()>& step) {
  const auto until = std::chrono::steady_clock::now() + kOthersLeave;
  for (;;) {
    try {
      return step();
    } catch (const DiskFull&) {
      if (std::chrono::steady_clock::now() > until) throw;
    }
    free_disk_reserve(run_file);
    std::this_thread::sleep_for(kLookForSpace);
  }
}

void free_disk_reserve(const std::filesystem::path& run_file) {
  remove_own(reserve_of(run_file), is_disk_reserve);
  remove_own(reserve_of(run_file).string() + kPartial, is_disk_reserve);
}

}  // namespace eventloom
