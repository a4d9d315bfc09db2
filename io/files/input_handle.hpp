#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/files/own_file.hpp"

namespace eventloom {

/// A regular file opened for reading. Any number of handles may exist: a process keeps at most kMostOpen files open at
/// a time, and reopens the others at their next read. Different threads may use different handles concurrently.
class InputHandle {
 public:
  static constexpr std::size_t kMostOpen = 128;

  /// Throws UserError when `path` cannot be opened or is not a regular file.
  explicit InputHandle(std::string path);
  ~InputHandle();
  InputHandle(const InputHandle&) = delete;
  InputHandle& operator=(const InputHandle&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Size in bytes when the file was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Current size in bytes; std::nullopt when the file no longer exists.
  [[nodiscard]] std::optional<std::uint64_t> size_now() const;
  /// Whether the path now leads to the same file, to another one, or to none.
  enum class Place : std::uint8_t { same, replaced, removed };
  [[nodiscard]] Place place() const;
  /// Reads into `out` from `offset`, like pread(), but repeats short reads. Returns fewer bytes than requested only at
  /// the end of the file or after an error: see failure().
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out);
  /// Error of the last read_at(); empty if it succeeded.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  friend class OpenInputs;
  bool reopen();
  void close();

  std::string path_;
  std::uint64_t size_ = 0;
  FileIdentity identity_;
  int descriptor_ = -1;  ///< -1: closed in favour of other handles
  std::string failure_;
};

}  // namespace eventloom
