#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/files/file_reader.hpp"

namespace eventloom {

/// Presents the rest of a file as little-endian 32-bit words: in a file of the other byte order, each whole word is
/// swapped. Has the interface of FileReader. Advances the FileReader, which must outlive this.
class LmdBytes {
 public:
  LmdBytes(FileReader& file, bool swapped) : file_(file), swapped_(swapped) {}

  /// Offset of the front in the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return file_.offset() - (ready_.size() - begin_); }
  [[nodiscard]] std::uint64_t left() const { return file_.left() + (ready_.size() - begin_); }
  [[nodiscard]] bool swapped() const { return swapped_; }

  std::span<const std::byte> front(std::size_t n) {
    if (!swapped_) return file_.front(n);
    if (ready_.size() - begin_ < n) swap_more(n);
    return std::span(ready_).subspan(begin_);
  }
  void skip(std::uint64_t n);
  /// See FileReader::awaits().
  [[nodiscard]] bool awaits(std::uint64_t n);

 private:
  void swap_more(std::size_t n);
  [[nodiscard]] std::span<const std::byte> whole_words(std::size_t wanted);

  FileReader& file_;
  bool swapped_;
  std::vector<std::byte> ready_;  ///< swapped bytes; used only for the other byte order
  std::size_t begin_ = 0;         ///< start of the unread bytes in ready_
};

}  // namespace eventloom
