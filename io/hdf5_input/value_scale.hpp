#pragma once

#include <cstdint>
#include <optional>

#include "formats/units.hpp"
#include "io/hdf5/column_reader.hpp"

namespace eventloom {

struct SignedDecimal {
  Decimal size;
  bool is_negative = false;
};

/// The attributes `scale_factor` and `add_offset` of a dataset (CF conventions, netCDF):
/// value = number x scale_factor + add_offset. They count as the shortest decimal numbers that their types hold apart
/// (1e-6 is a millionth), and are applied to whole numbers exactly.
class ValueScale {
 public:
  /// Leaves numbers as they are.
  ValueScale() = default;
  /// Throws UserError when an attribute is no number.
  explicit ValueScale(const ColumnReader& column);

  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] const SignedDecimal& factor() const { return factor_; }
  [[nodiscard]] const SignedDecimal& offset() const { return offset_; }

  /// How many times the factor the offset is; std::nullopt when that is no whole number of 64 bits with a sign.
  [[nodiscard]] std::optional<std::int64_t> offset_in_steps() const;

  /// The value of a whole number of the dataset, two's complement when negative; std::nullopt when it is no whole
  /// number of 64 bits with a sign.
  [[nodiscard]] std::optional<std::int64_t> whole(std::uint64_t number, bool is_signed) const;
  /// The double nearest to the value.
  [[nodiscard]] double real(std::uint64_t number, bool is_signed) const;
  [[nodiscard]] double real(double number) const;

 private:
  __extension__ using Wide = __int128;
  /// The value is digits x 10^exponent_; std::nullopt when it has too many digits.
  [[nodiscard]] std::optional<Wide> digits_of(std::uint64_t number, bool is_signed) const;

  bool any_ = false;
  SignedDecimal factor_{{1, 0}, false};
  SignedDecimal offset_;
  int exponent_ = 0;  ///< the smaller one of both
};

}  // namespace eventloom
