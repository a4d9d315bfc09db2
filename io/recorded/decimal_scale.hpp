#pragma once

#include <cstdint>
#include <optional>

#include "formats/units.hpp"
#include "io/recorded/payload_bits.hpp"

namespace eventloom {

struct SignedDecimal {
  Decimal size;
  bool is_negative = false;
};

/// The meaning of the numbers in a column: value = number x factor + offset. Both are decimal numbers, which are
/// applied to whole numbers exactly: 3 x 0.1 is 0.3, the double that this text means.
class DecimalScale {
 public:
  /// Values are the numbers.
  DecimalScale() = default;
  /// `factor` must not be 0.
  DecimalScale(const SignedDecimal& factor, const SignedDecimal& offset);

  /// Whether it was made from a factor and an offset, even of 1 and 0.
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] const SignedDecimal& factor() const { return factor_; }
  [[nodiscard]] const SignedDecimal& offset() const { return offset_; }

  /// How many times the factor the offset is; std::nullopt when that is no whole number of 64 bits with a sign.
  [[nodiscard]] std::optional<std::int64_t> offset_in_steps() const;

  /// The value of a whole number of up to 64 bits; std::nullopt when it is no whole number below 2^100.
  [[nodiscard]] std::optional<WideWhole> whole(WideWhole number) const;
  /// The whole number nearest to the value, halves away from 0; std::nullopt when it is not below 2^100.
  [[nodiscard]] std::optional<WideWhole> nearest(WideWhole number) const;
  /// The double nearest to the value.
  [[nodiscard]] double real(WideWhole number) const;
  [[nodiscard]] double real(double number) const;

 private:
  /// The value is digits x 10^exponent_; std::nullopt when it has too many digits.
  [[nodiscard]] std::optional<WideWhole> digits_of(WideWhole number) const;

  bool any_ = false;
  SignedDecimal factor_{{1, 0}, false};
  SignedDecimal offset_;
  int exponent_ = 0;                                       ///< the smaller one of both
  std::optional<WideWhole> factor_digits_ = WideWhole{1};  ///< the factor is this x 10^exponent_
  std::optional<WideWhole> offset_digits_ = WideWhole{0};  ///< likewise; std::nullopt: too many digits
};

/// The whole number that `number` is; std::nullopt when it is none below 2^100.
std::optional<WideWhole> whole_of(double number);

}  // namespace eventloom
