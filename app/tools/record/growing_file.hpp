#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "formats/stream_file.hpp"
#include "io/epochs/stream_layout.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

/// A stream file that has its final name from the beginning and grows by whole epoch buffers, so that others can read
/// it meanwhile. Writing may fail and be tried again.
class GrowingFile {
 public:
  /// The first write() creates the file, which must not exist.
  GrowingFile(std::filesystem::path path, const StreamHeader& header);

  /// Adds whole stored epoch buffers to what write() will write.
  void place(std::span<const std::byte> buffers) { layout_.place(buffers, pending_); }
  /// Adds the index. Nothing may be placed after it.
  void end() { layout_.end(pending_); }
  /// Writes what is pending. Returns 0, or the number of the error: it can then be called again.
  int write();
  /// Waits for the disk. Returns 0, or the number of the error.
  [[nodiscard]] int sync() const;
  /// Gives up pending data: cuts the file after its last whole epoch buffer. Returns the number of hits not written.
  std::uint64_t give_up();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const StreamLayout& layout() const { return layout_; }

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  StreamLayout layout_;
  std::vector<std::byte> pending_;
  std::size_t done_ = 0;  ///< bytes of `pending_` that are in the file
};

}  // namespace eventloom
