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

/// Reads a file sequentially and unpacks it if it is compressed by gzip, zstd or lz4. Offsets refer to the unpacked
/// contents. Bytes appended after the file was opened are also read.
class ByteStream {
 public:
  /// Throws UserError when `path` cannot be opened, is not a regular file, or is packed in another way.
  explicit ByteStream(const std::string& path);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] bool is_packed() const { return unpacker_ != nullptr; }
  /// The file as it is on disk.
  [[nodiscard]] const InputHandle& file() const { return file_; }

  /// Fills `out` and returns the number of bytes. Returns fewer at the end of the file, or after an error: see
  /// failure().
  std::size_t read(std::span<std::byte> out);
  /// Skips the next `n` bytes, or all that remain if there are fewer.
  void skip(std::uint64_t n);
  /// Offset of the next byte.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Fraction of the file on disk that has been read, 0 to 1.
  [[nodiscard]] double share_read() const;
  /// Why nothing more can be read; empty at the end of the file. Damaged packed data end where the damage is detected.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  std::size_t unpack(std::span<std::byte> out);
  bool refill();

  InputHandle file_;
  Packing packing_ = Packing::none;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::byte> packed_;  ///< [begin_, end_) is not yet unpacked
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t file_offset_ = 0;  ///< offset of the next byte to read from disk
  std::uint64_t offset_ = 0;
  bool whole_ = true;  ///< the packed data may end here
  std::string failure_;
};

/// Throws UserError: a compressed file cannot be followed.
[[noreturn]] void refuse_to_follow(const std::string& path);

/// Length of the unpacked contents, and why they end early: failure() of a ByteStream at its end. length_of_packed()
/// reads the whole file, once per process unless the file has changed since.
struct ContentsLength {
  std::uint64_t bytes = 0;
  std::string failure;
};
ContentsLength length_of_packed(const std::string& path);

}  // namespace eventloom
