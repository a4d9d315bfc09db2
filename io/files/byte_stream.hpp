#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/files/input_handle.hpp"
#include "io/files/packing.hpp"
#include "io/files/unpacker.hpp"

namespace eventloom {

/// The contents of a file from front to back, unpacked where it is compressed by gzip, zstd or lz4. Offsets are of the
/// contents. Bytes appended after the file was opened are read, too.
class ByteStream {
 public:
  /// Throws UserError when `path` is not a regular file that can be opened, or is packed in another way.
  explicit ByteStream(const std::string& path);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] bool is_packed() const { return unpacker_ != nullptr; }
  /// As it is on disk.
  [[nodiscard]] const InputHandle& file() const { return file_; }

  /// Fills `out` as far as there are bytes; fewer at the end, or where failure() says why there are no more.
  std::size_t read(std::span<std::byte> out);
  /// Leaves out the next `n` bytes, as far as there are any.
  void skip(std::uint64_t n);
  /// Of the next byte.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Of the file on disk that has been read, 0 to 1.
  [[nodiscard]] double share_read() const;
  /// Why nothing more can be read; empty at the end of the file. Data that are packed and damaged end where that shows.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::size_t unpack(std::span<std::byte> out);
  bool refill();
  void skip_padding();

  InputHandle file_;
  Packing packing_ = Packing::none;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::byte> packed_;  ///< [begin_, end_) is to be unpacked
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t file_offset_ = 0;  ///< of the next byte to be read from disk
  std::uint64_t offset_ = 0;
  bool whole_ = true;  ///< the packed data may end here
  std::string failure_;
};

/// Length of the contents, and why they end there too early: failure() of a ByteStream at its end. Reads a packed file
/// as a whole, once per process unless it has changed since.
struct ContentsLength {
  std::uint64_t bytes = 0;
  std::string failure;
};
ContentsLength length_of_packed(const std::string& path);

}  // namespace eventloom
