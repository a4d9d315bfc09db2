#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/payload_kind.hpp"
#include "formats/units.hpp"
#include "io/recorded/decimal_scale.hpp"

namespace eventloom {

/// A number in a record of fixed size, described as TYPE@OFFSET[:LOW-HIGH][*SCALE], or :BIT for a single bit.
///
///   TYPE     u8, u16, u24, u32, u40, u48 or u64, unsigned; i8, i16, i32 or i64, two's complement; f32 or f64,
///            IEEE 754; except u8 and i8, with the byte order: u32le, u24be, f64le
///   OFFSET   offset of the first byte in the record, from 0
///   LOW-HIGH only the bits from LOW to HIGH inclusive; bit 0 is the lowest of the value in either byte order; not
///            for signed numbers, f32 and f64
///   SCALE    decimal factor by which the number is multiplied, such as 6.25 or 1e3
///
///   u32le@4:0-21, in a record of 8 bytes:
///     byte  0    1    2    3    4    5    6    7
///         |    |    |    |    |0-7 |8-15|..21|    |
class PackedField {
 public:
  /// Throws UserError, one line that begins with `where`, when `text` is not such a description or the field does not
  /// lie inside a record of `record_bytes`, which is at least 1.
  static PackedField parse(std::string_view text, std::size_t record_bytes, const std::string& where);

  /// Whether the number is in floating point, so that extract() returns its representation.
  [[nodiscard]] bool is_float() const { return is_float_; }
  [[nodiscard]] Decimal scale() const { return scale_.factor().size; }
  [[nodiscard]] bool is_signed() const { return is_signed_; }
  [[nodiscard]] bool is_scaled() const { return scale_.any(); }
  /// Whether the value is the unscaled unsigned number in the record.
  [[nodiscard]] bool is_plain() const { return !is_float_ && !is_signed_ && !is_scaled(); }
  /// Significant binary digits of the type, of a number in floating point.
  [[nodiscard]] unsigned digits() const;
  /// A number that extract() returned, unrounded and not scaled.
  [[nodiscard]] double to_double(std::uint64_t number) const;
  /// The value of such a number, scaled: the whole number that it is, of numbers in floating point within their
  /// precision; std::nullopt when it is none below 2^100.
  [[nodiscard]] std::optional<WideWhole> whole(std::uint64_t number) const;
  /// Likewise the double nearest to it.
  [[nodiscard]] double real(std::uint64_t number) const;
  /// Likewise of a whole number below 2^63.
  [[nodiscard]] std::int64_t to_whole(std::uint64_t number) const;
  /// Kind of its payload. Scaled numbers are rounded to whole ones, of 32 bits with a sign if the number has
  /// one.
  [[nodiscard]] PayloadKind payload_kind() const;
  /// The payload of a number that extract() returned, the low 32 bits first; std::nullopt if it is scaled and not
  /// finite, or does not fit 32 bits.
  [[nodiscard]] std::optional<std::uint64_t> to_payload(std::uint64_t number) const;

  /// Width of the number in bits.
  [[nodiscard]] unsigned bits() const { return bits_; }

  /// Extracts the numbers from consecutive records, one per element of `values`. Reads only these records.
  void extract(const std::byte* records, std::span<std::uint64_t> values) const;
  /// Likewise for a column of times, which PackedClock then converts to ticks.
  void extract(const std::byte* records, std::span<Tick> values) const;
  /// Extracts the 32 bits from bit `from` on into every `stride`-th of `words`.
  void extract_words(const std::byte* records, std::size_t n_records, unsigned from, std::uint32_t* words,
                     std::size_t stride) const;

 private:
  [[nodiscard]] WideWhole unscaled(std::uint64_t number) const;

  std::size_t record_bytes_ = 0;
  /// Bytes loaded at once: 8, or the whole record if it is shorter.
  std::size_t load_bytes_ = 0;
  std::size_t load_at_ = 0;
  bool big_endian_ = false;
  unsigned shift_ = 0;  ///< right shift of the loaded, and possibly swapped, bytes
  unsigned bits_ = 0;
  bool is_float_ = false;
  bool is_signed_ = false;
  DecimalScale scale_;
};

}  // namespace eventloom
