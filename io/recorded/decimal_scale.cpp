#include "io/recorded/decimal_scale.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Powers of ten that a double holds exactly.
constexpr std::array kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

std::optional<WideWhole> times_ten_to(WideWhole number, int power) {
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(number, WideWhole{10}, &number)) return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> in_64_bits(WideWhole number) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (number < Limits::min() || number > Limits::max()) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<WideWhole> in_100_bits(std::optional<WideWhole> number) {
  constexpr auto kEnd = WideWhole{1} << 100;
  const bool fits = number.has_value() && -kEnd < *number && *number < kEnd;
  return fits ? number : std::nullopt;
}

WideWhole signed_digits(const SignedDecimal& number) {
  const auto digits = static_cast<WideWhole>(number.size.digits);
  return number.is_negative ? -digits : digits;
}

double to_double(const SignedDecimal& number) {
  const double size = to_double(number.size);
  return number.is_negative ? -size : size;
}

/// The double nearest to digits x 10^exponent.
double nearest_double(WideWhole digits, int exponent) {
  constexpr WideWhole kExact = WideWhole{1} << std::numeric_limits<double>::digits;
  const auto power = static_cast<std::size_t>(std::abs(exponent));
  if (digits <= kExact && digits >= -kExact && power < kTens.size()) {  // one rounding, by the division itself
    const auto number = static_cast<double>(digits);
    return exponent < 0 ? number / kTens.at(power) : number * kTens.at(power);
  }
  const auto text = fmt::format("{}e{}", digits, exponent);
  double number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

DecimalScale::DecimalScale(const SignedDecimal& factor, const SignedDecimal& offset)
    : any_(true), factor_(factor), offset_(offset) {
  if (offset_.size.digits == 0) offset_.size.exponent = factor_.size.exponent;
  exponent_ = std::min(factor_.size.exponent, offset_.size.exponent);
  factor_digits_ = times_ten_to(signed_digits(factor_), factor_.size.exponent - exponent_);
  offset_digits_ = times_ten_to(signed_digits(offset_), offset_.size.exponent - exponent_);
}

std::optional<WideWhole> DecimalScale::digits_of(WideWhole number) const {
  WideWhole value = 0;
  const bool overflows = !factor_digits_ || !offset_digits_ ||
                         __builtin_mul_overflow(number, *factor_digits_, &value) ||
                         __builtin_add_overflow(value, *offset_digits_, &value);
  return overflows ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> DecimalScale::offset_in_steps() const {
  if (offset_.size.digits == 0) return 0;
  if (!factor_digits_ || !offset_digits_ || *offset_digits_ % *factor_digits_ != 0) return std::nullopt;
  return in_64_bits(*offset_digits_ / *factor_digits_);
}

std::optional<WideWhole> DecimalScale::whole(WideWhole number) const {
  auto value = digits_of(number);
  if (value && exponent_ > 0) value = times_ten_to(*value, exponent_);
  for (int power = exponent_; value && power < 0; ++power) {
    if (*value % 10 != 0) return std::nullopt;
    *value /= 10;
  }
  return in_100_bits(value);
}

std::optional<WideWhole> DecimalScale::nearest(WideWhole number) const {
  auto value = digits_of(number);
  if (!value || exponent_ >= 0) return whole(number);
  WideWhole last = 0;  // the highest of the digits that are divided away decides
  for (int power = exponent_; power < 0 && (*value != 0 || last != 0); ++power) {
    last = *value % 10;
    *value /= 10;
  }
  if (last >= 5) ++*value;
  if (last <= -5) --*value;
  return in_100_bits(value);
}

double DecimalScale::real(WideWhole number) const {
  if (const auto digits = digits_of(number)) return nearest_double(*digits, exponent_);
  return real(static_cast<double>(number));
}

double DecimalScale::real(double number) const { return std::fma(number, to_double(factor_), to_double(offset_)); }

std::optional<WideWhole> whole_of(double number) {
  constexpr double kEnd = 0x1p100;
  const bool whole = std::abs(number) < kEnd && number == std::floor(number);
  return whole ? std::optional(static_cast<WideWhole>(number)) : std::nullopt;
}

}  // namespace eventloom
