#pragma once

#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

/// Code that fuzz targets share.
namespace eventloom::fuzz {

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// Keeps reports of the input's endless defects from standard error. Call from LLVMFuzzerInitialize.
inline void silence_log() { spdlog::set_level(spdlog::level::off); }

/// Ends the program if an invariant of every input is violated, so that the fuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Bytes as a file with a path, for code that opens its input itself. Lives in memory and is removed with the object.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    const auto written = file_ < 0 ? -1 : write(file_, bytes.data(), bytes.size());
    require(written == static_cast<ssize_t>(bytes.size()), "a file in memory takes the input");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace eventloom::fuzz
