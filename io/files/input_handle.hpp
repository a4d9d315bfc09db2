#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/files/own_file.hpp"

namespace eventloom {

/// A regular file open for reading. Any number may exist: a process keeps at most kMostOpen of them open at a time, and
/// opens the others again when they are read next. Used by any thread, each handle by one at a time.
class InputHandle {
 public:
  static constexpr std::size_t kMostOpen = 128;

  /// Throws UserError when `path` is not a regular file that can be opened.
  explicit InputHandle(std::string path);
  ~InputHandle();
  InputHandle(const InputHandle&) = delete;
  InputHandle& operator=(const InputHandle&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Bytes, when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Bytes now; nothing when it is not there any more.
  [[nodiscard]] std::optional<std::uint64_t> size_now() const;
  /// Reads into `out` from `offset` on, as pread() does, but as far as the file goes. When fewer bytes are read than
  /// there is room for, failure() says why, or the file ends there.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out);
  /// Of the last read_at(); empty when there was none.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  friend class OpenInputs;
  bool reopen();
  void close();

  std::string path_;
  std::uint64_t size_ = 0;
  FileIdentity identity_;
  int descriptor_ = -1;  ///< -1: closed for others
  std::string failure_;
};

}  // namespace eventloom
