#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ids.hpp"
#include "io/packed/field.hpp"

namespace eventloom {

/// The times of records: a field, or two whole numbers, HIGH<<BITS|LOW. The high one is shifted left by BITS, and the
/// low one, which must fit below, supplies the lower bits:
///
///   u32le@4<<24|u24le@0      32 bits above 24 bits
class TimeField {
 public:
  /// Throws UserError, whose single line begins with `where`, when `text` is neither, or the numbers do not fit 64
  /// bits.
  static TimeField parse(const std::string& text, std::size_t record_bytes, const std::string& where);

  /// The field, or the low one, which is then a plain whole number, as the time is.
  [[nodiscard]] const PackedField& field() const { return field_; }
  /// Extracts the numbers from consecutive records, one per element of `times`.
  void extract(const std::byte* records, std::span<Tick> times);

 private:
  PackedField field_;
  std::optional<PackedField> high_;
  unsigned shift_ = 0;
  std::vector<std::uint64_t> highs_;
};

}  // namespace eventloom
