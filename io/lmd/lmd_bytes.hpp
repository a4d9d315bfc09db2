#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/files/file_window.hpp"

namespace eventloom {

/// A file from its window's front on as little-endian 32-bit words: of a file of the other byte order, each whole
/// word from there is swapped. Used like FileWindow, which it moves on and must not outlive.
class LmdBytes {
 public:
  LmdBytes(FileWindow& file, bool swapped) : file_(file), swapped_(swapped) {}

  /// Of the front in the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return file_.offset() - (ready_.size() - begin_); }
  [[nodiscard]] std::uint64_t left() const { return file_.left() + (ready_.size() - begin_); }
  [[nodiscard]] bool swapped() const { return swapped_; }

  std::span<const std::byte> front(std::size_t n) {
    if (!swapped_) return file_.front(n);
    if (ready_.size() - begin_ < n) swap_more(n);
    return std::span(ready_).subspan(begin_);
  }
  void skip(std::uint64_t n);

 private:
  void swap_more(std::size_t n);

  FileWindow& file_;
  bool swapped_;
  std::vector<std::byte> ready_;  ///< swapped bytes; of the other order only
  std::size_t begin_ = 0;         ///< of what is unread in ready_
};

}  // namespace eventloom
