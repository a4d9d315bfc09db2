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

  /// Releases all pages from this process (not from the page cache), as they will not be read soon.
  void release_all();

 private:
  std::span<const std::byte> bytes_;
  std::optional<BusGuard> guard_;
};

}  // namespace eventloom
