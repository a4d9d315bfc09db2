#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/files/byte_stream.hpp"

namespace eventloom {

/// Reads a file from front to back through a buffer of 64 KiB, which grows only while more is requested at once:
/// memory does not grow with the file. Contents that are compressed (see Packing) are unpacked: sizes and offsets are
/// those of the contents. Their size is known only after unpacking them once, which the constructor does.
///
/// Bytes appended after the file was opened are not read. Where the disk fails, the file has been truncated or its
/// compressed data are damaged, it ends early: see failure().
class FileReader {
 public:
  /// Throws UserError when `path` is not a regular file that can be opened, or is packed in a way that is not unpacked.
  explicit FileReader(const std::string& path);

  [[nodiscard]] const std::string& path() const { return stream_.path(); }
  /// Bytes, when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Offset of the front in the file, bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Bytes from the front to the end of the file as it was opened.
  [[nodiscard]] std::uint64_t left() const { return size_ - offset_; }
  /// Of the file that is before the front, 0 to 1.
  [[nodiscard]] double share_read() const {
    return size_ == 0 ? 1 : static_cast<double>(offset_) / static_cast<double>(size_);
  }

  /// The bytes at the front: at least `n`, often more; fewer only where the file ends. Valid until
  /// the next call of front() or skip(). Aligned as the offset in the file is, to 8 bytes.
  std::span<const std::byte> front(std::size_t n);
  /// Moves the front by `n` bytes, or to the end.
  void skip(std::uint64_t n);

  /// Why the file ended before size(), or its compressed data before they should; empty while they have not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Whether the file is longer now than when it was opened.
  [[nodiscard]] bool has_grown() const;

 private:
  void fill(std::size_t n);

  ByteStream stream_;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  ///< start of the unread bytes in buffer_
  std::size_t end_ = 0;
  std::string failure_;
  std::string last_failure_;  ///< of compressed data, at size_
};

}  // namespace eventloom
