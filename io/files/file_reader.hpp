#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/files/byte_stream.hpp"
#include "io/files/followed_files.hpp"

namespace eventloom {

/// Reads a file sequentially through a buffer of 64 KiB, which grows only if more is requested at once; memory does not
/// grow with the file. Compressed contents (see Packing) are unpacked, and sizes and offsets refer to the unpacked
/// contents. To learn their size, the constructor unpacks them once.
///
/// Bytes appended after the file was opened are read only if the file is followed, and found only by awaits(). The file
/// ends early if the disk fails, the file has been truncated, its compressed data are damaged, or it can no longer be
/// followed: see failure().
class FileReader {
 public:
  /// Throws UserError when `path` cannot be opened, is not a regular file, or has a packing that is not supported.
  /// `followed`: the files that this one belongs to, null if it is not followed; a compressed file is then refused.
  explicit FileReader(const std::string& path, Followed followed = nullptr);

  [[nodiscard]] const std::string& path() const { return stream_.path(); }
  /// Size in bytes when the file was opened, or when awaits() last looked; less after failure().
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Offset of the front in the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Bytes not yet read.
  [[nodiscard]] std::uint64_t left() const { return size_ - offset_; }
  /// Fraction of the file that lies before the front, 0 to 1.
  [[nodiscard]] double share_read() const {
    return size_ == 0 ? 1 : static_cast<double>(offset_) / static_cast<double>(size_);
  }

  /// The bytes at the front: at least `n`, often more; fewer only at the end of the file. Valid until the next call of
  /// front() or skip(). The address is congruent to the file offset modulo 8.
  std::span<const std::byte> front(std::size_t n);
  /// Whether the next element, of `n` bytes, is incomplete but may be completed, since the file is followed. Call it at
  /// the beginning of an element: after FollowedFiles::stop() the file ends there.
  [[nodiscard]] bool awaits(std::uint64_t n);
  /// Whether the file has ended because FollowedFiles::stop() was called.
  [[nodiscard]] bool stopped() const { return followed_ != nullptr && followed_->stopped(); }
  /// Moves the front forward by `n` bytes, or to the end.
  void skip(std::uint64_t n);

  /// Why the file or its compressed data ended early; empty if they have not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Whether the file has grown since it was opened.
  [[nodiscard]] bool has_grown() const;

 private:
  void fill(std::size_t n);
  void grow(bool is_final);

  ByteStream stream_;
  Followed followed_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  ///< start of the unread bytes in buffer_
  std::size_t end_ = 0;
  std::string failure_;
  std::string last_failure_;  ///< failure of the compressed data at size_
};

}  // namespace eventloom
