#pragma once

#include <cstddef>
#include <span>

namespace eventloom {

/// Keeps the process alive when a page of a mapped file cannot be read because the file was truncated or the disk
/// failed. Such a page then reads as zeros, which fail every checksum, and the mapping is marked as lost.
///
/// Installs a handler for SIGBUS once per process, which passes other faults on to the previous handler.
class BusGuard {
 public:
  /// Watches `mapping`: whole pages of a private file mapping that must outlive the guard. Throws std::runtime_error
  /// when too many mappings are watched.
  explicit BusGuard(std::span<const std::byte> mapping);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  /// Whether a page of the mapping could not be read.
  [[nodiscard]] bool lost() const;

 private:
  std::size_t place_;
};

}  // namespace eventloom
