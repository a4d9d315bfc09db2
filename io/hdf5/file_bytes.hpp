#pragma once

#include <H5Ipublic.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace eventloom {

/// Reads the bytes of an open HDF5 file, bypassing HDF5. The file must stay open. In a file that is being written, only
/// flushed bytes are visible.
class FileBytes {
 public:
  FileBytes() = default;
  explicit FileBytes(hid_t file);

  /// Reads the bytes at `offset`. Returns why that failed; empty on success.
  [[nodiscard]] std::string read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  int descriptor_ = -1;
};

}  // namespace eventloom
