#include "core/mpi/window.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "core/control/agreement.hpp"
#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"

namespace eventloom {

namespace {

void require_unified_model(MPI_Win window) {
  int* model = nullptr;
  int found = 0;
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &found);
  if (found == 0 || *model != MPI_WIN_UNIFIED) {
    throw std::runtime_error("this MPI has no windows of the unified memory model, which the rings need");
  }
}

constexpr const char* kShared = "/dev/shm";

/// Fills memory with zeros, by a system call: touching memory beyond the space in /dev/shm would kill this process,
/// while the system reports it. Returns whether all of it is there.
bool fill_with_zeros(std::span<std::byte> memory) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zeros < 0) throw std::runtime_error("cannot open /dev/zero");
  while (!memory.empty()) {
    const auto filled = ::read(zeros, memory.data(), std::min(memory.size(), kMost));
    if (filled <= 0) break;
    memory = memory.subspan(static_cast<std::size_t>(filled));
  }
  ::close(zeros);
  return memory.empty();
}

/// " (N MiB free in /dev/shm)" if that may be why MPI has failed to allocate memory: UCX takes 4 MiB for itself there.
std::string shortage(std::uint64_t bytes) {
  constexpr std::uint64_t kForMpi = std::uint64_t{4} << 20;
  std::error_code error;
  const auto free = std::filesystem::space(kShared, error).available;
  return error || free > bytes + kForMpi ? "" : " (" + in_mebibytes(free) + " free in " + kShared + ")";
}

/// Whole pages: MPICH and Intel MPI place the windows of a host's ranks one behind the other, so that the size of one
/// decides on the address of the next.
MPI_Aint in_pages(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return static_cast<MPI_Aint>((bytes + page - 1) / page * page);
}

/// Whether the mapping that contains `at` is shared, by a line as in "7f78352-7f7835f rw-s 00000000 00:1b 195 FILE".
bool is_shared_mapping(const std::string& line, std::uintptr_t at) {
  constexpr int kHexadecimal = 16;
  const auto hyphen = line.find('-');
  const auto space = line.find(' ');
  if (hyphen == std::string::npos || space == std::string::npos) return false;
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
  std::from_chars(line.data(), line.data() + hyphen, from, kHexadecimal);
  std::from_chars(line.data() + hyphen + 1, line.data() + space, to, kHexadecimal);
  constexpr std::size_t kOfSharing = 4;
  return from <= at && at < to && line.size() > space + kOfSharing && line[space + kOfSharing] == 's';
}

}  // namespace

Window::Window(const Communicator& communicator, std::uint64_t bytes) {
  void* base = nullptr;
  const auto size = in_pages(bytes);
  const int made = MPI_Win_allocate(size, 1, MPI_INFO_NULL, communicator.handle(), static_cast<void*>(&base), &handle_);
  if (made != MPI_SUCCESS) {
    throw MemoryError("the rings need " + in_mebibytes(bytes) + ", which MPI_Win_allocate failed to allocate" +
                      shortage(bytes) + ": " + mpi_error_text(made));
  }
  MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN);
  require_unified_model(handle_);
  memory_ = {static_cast<std::byte*>(base), bytes};
  fill(communicator);
  mpi_check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_), "MPI_Win_lock_all");
  mpi_check(MPI_Win_sync(handle_), "MPI_Win_sync");
  // All ranks must have zeroed their memory before any rank puts.
  mpi_check_reached(MPI_Barrier(communicator.handle()), "MPI_Barrier", kAnyRank);
}

/// Collective.
void Window::fill(const Communicator& communicator) {
  try {
    agree(communicator, [&] {
      if (fill_with_zeros(memory_)) return;
      throw UserError("the rings need " + in_mebibytes(memory_.size()) + " of each rank in " + kShared +
                      ", which is full: make it larger (docker run --shm-size=8g; mount -o remount,size=50% " +
                      kShared + "), or lower " + name_of(Setting::ring_depth) + " or " + name_of(Setting::cell_size));
    });
  } catch (const std::exception&) {
    MPI_Win_free(&handle_);
    throw;
  }
}

Window::~Window() {
  if (leaves_alone()) return;
  MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
}

// MPI may put into it through a network nevertheless, if the user has said so.
bool Window::is_shared() const {
  if (memory_.empty()) return true;
  if (network_within_host()) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (is_shared_mapping(line, at)) return true;
  }
  return false;
}

std::vector<MemoryBound> window_bounds() {
  auto bounds = memory_there_is();
  if (!windows_fill_shared_memory()) return bounds;
  std::error_code error;
  const auto space = std::filesystem::space(kShared, error);
  // MPI itself needs some later.
  constexpr std::uint64_t kPartForMpi = 8;
  if (!error) bounds.push_back({"free in /dev/shm", space.available - space.available / kPartForMpi});
  return bounds;
}

}  // namespace eventloom
