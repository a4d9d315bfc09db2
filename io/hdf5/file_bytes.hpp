#pragma once

#include <H5Ipublic.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace eventloom {

/// The bytes of an open HDF5 file, which must stay open, read bypassing HDF5: of a file that is being written, those
/// that it has flushed.
class FileBytes {
 public:
  FileBytes() = default;
  explicit FileBytes(hid_t file);

  /// Why the bytes at `offset` cannot be read; empty when they were.
  [[nodiscard]] std::string read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  int descriptor_ = -1;
};

}  // namespace eventloom
