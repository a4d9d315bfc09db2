#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/scratch.hpp"
#include "formats/ids.hpp"
#include "io/files/input_handle.hpp"

namespace eventloom {

/// Pieces of a file, read into memory that is used again for later pieces. It thus stays in the caches next to the
/// core, and costs less than mapping the file's pages one after another.
class FileBlocks {
 public:
  /// Throws UserError when `path` cannot be opened or is not a regular file.
  explicit FileBlocks(const std::string& path) : file_(path) {}

  /// Returns `n` bytes from `offset`. They stay valid until all epochs before `end` are released; until then, a read of
  /// some of them returns the same memory, so that short slices of a long epoch buffer do not each hold a copy.
  /// A new block is aligned to 8 bytes. Returns fewer bytes if the file has become shorter or its disk
  /// fails: see lost().
  std::span<const std::byte> read(std::uint64_t offset, std::size_t n, Epoch end);
  void release_before(Epoch epoch);
  /// Whether bytes could not be read.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Block {
    std::uint64_t offset = 0;
    std::size_t n = 0;
    Epoch end = 0;
    Scratch<std::byte> memory = {};
  };

  InputHandle file_;
  std::deque<Block> used_;
  std::vector<Block> spare_;
  bool lost_ = false;
};

}  // namespace eventloom
