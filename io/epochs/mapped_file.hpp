#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/epochs/bus_guard.hpp"

namespace eventloom {

/// A file mapped for reading. Throws UserError when it cannot be opened or mapped. Parts that become unreadable,
/// because the file is truncated or the disk fails, read as zeros: see lost().
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether bytes could not be read.
  [[nodiscard]] bool lost() const { return guard_ && guard_->lost(); }

  /// Maps the pages of [begin, end), and some more, unless they have been before: one call for many pages costs less
  /// than a fault for every few. Has no effect before Linux 5.14.
  void prepare(std::uint64_t begin, std::uint64_t end);
  /// Releases the pages before `offset` from this process (not from the page cache), as they will not be read soon.
  /// Works in steps of some MiB, so that frequent calls are cheap.
  void release_before(std::uint64_t offset);
  /// Releases all pages.
  void release_all();

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t prepared_ = 0;
  std::uint64_t released_ = 0;
  std::optional<BusGuard> guard_;
};

}  // namespace eventloom
