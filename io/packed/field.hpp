#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace eventloom {

/// A number in a record of fixed size, described as TYPE@OFFSET or TYPE@OFFSET:LOW-HIGH.
///
///   TYPE     u8, u16, u24, u32, u40, u48 or u64, unsigned; but for u8 with its byte order: u32le, u24be
///   OFFSET   of its first byte in the record, from 0
///   LOW-HIGH of its bits just those from LOW to HIGH, both included; bit 0 is the lowest of the value,
///            whatever the byte order
///
///   u32le@4:0-21, in a record of 8 bytes:
///     byte  0    1    2    3    4    5    6    7
///         |    |    |    |    |0-7 |8-15|..21|    |
class PackedField {
 public:
  /// Throws UserError, one line that begins with `where`, when `text` is not such a description or the field does not
  /// lie inside a record of `record_bytes`, at least 1.
  static PackedField parse(std::string_view text, std::size_t record_bytes, const std::string& where);

  /// Number of bits of the value.
  [[nodiscard]] unsigned bits() const { return bits_; }

  /// The values in consecutive records, as many as `values` has; reads only these records.
  void extract(const std::byte* records, std::span<std::uint64_t> values) const;
  /// The 32 bits from bit `from` on, into every `stride`-th of `words`.
  void extract_words(const std::byte* records, std::size_t n_records, unsigned from, std::uint32_t* words,
                     std::size_t stride) const;

 private:
  std::size_t record_bytes_ = 0;
  /// Bytes loaded at once: 8, or the whole record when it is shorter.
  std::size_t load_bytes_ = 0;
  std::size_t load_at_ = 0;
  bool big_endian_ = false;
  unsigned shift_ = 0;  ///< of the loaded bytes, swapped if necessary, down to bit 0
  unsigned bits_ = 0;
};

}  // namespace eventloom
