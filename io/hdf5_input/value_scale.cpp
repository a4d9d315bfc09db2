#include "io/hdf5_input/value_scale.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

__extension__ using Wide128 = __int128;

/// Powers of ten that a double holds exactly.
constexpr std::array kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// `otherwise` when there is no such attribute.
std::optional<SignedDecimal> stated_number(const ColumnReader& column, const char* attribute) {
  const auto numbers = column.numbers_of(attribute);
  if (numbers.empty() && !column.text_of(attribute)) return std::nullopt;
  if (numbers.size() == 1) {
    std::string_view text = numbers.front().text;
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (const auto size = parse_decimal(text)) return SignedDecimal{shortest(*size), negative};
  }
  throw UserError("'" + column.name() + "': its attribute " + attribute + " is not one finite number" +
                  (numbers.size() == 1 ? ": " + numbers.front().text : ""));
}

std::optional<Wide128> times_ten_to(Wide128 number, int power) {
  for (; power > 0; --power) {
    if (__builtin_mul_overflow(number, Wide128{10}, &number)) return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> in_64_bits(Wide128 number) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (number < Limits::min() || number > Limits::max()) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

Wide128 signed_digits(const SignedDecimal& number) {
  const auto digits = static_cast<Wide128>(number.size.digits);
  return number.is_negative ? -digits : digits;
}

double to_double(const SignedDecimal& number) {
  const double size = to_double(number.size);
  return number.is_negative ? -size : size;
}

std::string decimal_text(Wide128 number) {
  const bool negative = number < 0;
  std::string text;
  do {
    const auto digit = static_cast<int>(number % 10);
    text += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    number /= 10;
  } while (number != 0);
  if (negative) text += '-';
  std::ranges::reverse(text);
  return text;
}

/// The double nearest to digits x 10^exponent.
double nearest_double(Wide128 digits, int exponent) {
  constexpr Wide128 kExact = Wide128{1} << std::numeric_limits<double>::digits;
  const auto power = static_cast<std::size_t>(std::abs(exponent));
  if (digits <= kExact && digits >= -kExact && power < kTens.size()) {  // one rounding, by the division itself
    const auto number = static_cast<double>(digits);
    return exponent < 0 ? number / kTens.at(power) : number * kTens.at(power);
  }
  const auto text = decimal_text(digits) + "e" + std::to_string(exponent);
  double number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

ValueScale::ValueScale(const ColumnReader& column) {
  const auto factor = stated_number(column, "scale_factor");
  const auto offset = stated_number(column, "add_offset");
  if (factor) factor_ = *factor;
  if (offset) offset_ = *offset;
  if (factor_.size.digits == 0) throw UserError("'" + column.name() + "': its attribute scale_factor is 0");
  any_ = factor || offset;
  if (offset_.size.digits == 0) offset_.size.exponent = factor_.size.exponent;
  exponent_ = std::min(factor_.size.exponent, offset_.size.exponent);
}

std::optional<ValueScale::Wide> ValueScale::digits_of(std::uint64_t number, bool is_signed) const {
  const Wide wide = is_signed ? Wide{static_cast<std::int64_t>(number)} : Wide{number};
  const auto factor = times_ten_to(signed_digits(factor_), factor_.size.exponent - exponent_);
  const auto offset = times_ten_to(signed_digits(offset_), offset_.size.exponent - exponent_);
  Wide value = 0;
  if (!factor || !offset || __builtin_mul_overflow(wide, *factor, &value)) return std::nullopt;
  if (__builtin_add_overflow(value, *offset, &value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ValueScale::offset_in_steps() const {
  const auto factor = times_ten_to(signed_digits(factor_), factor_.size.exponent - exponent_);
  const auto offset = times_ten_to(signed_digits(offset_), offset_.size.exponent - exponent_);
  if (offset_.size.digits == 0) return 0;
  if (!factor || !offset || *offset % *factor != 0) return std::nullopt;
  return in_64_bits(*offset / *factor);
}

std::optional<std::int64_t> ValueScale::whole(std::uint64_t number, bool is_signed) const {
  auto value = digits_of(number, is_signed);
  if (value && exponent_ > 0) value = times_ten_to(*value, exponent_);
  for (int power = exponent_; value && power < 0; ++power) {
    if (*value % 10 != 0) return std::nullopt;
    *value /= 10;
  }
  return value ? in_64_bits(*value) : std::nullopt;
}

double ValueScale::real(std::uint64_t number, bool is_signed) const {
  if (const auto digits = digits_of(number, is_signed)) return nearest_double(*digits, exponent_);
  return real(is_signed ? static_cast<double>(static_cast<std::int64_t>(number)) : static_cast<double>(number));
}

double ValueScale::real(double number) const { return std::fma(number, to_double(factor_), to_double(offset_)); }

}  // namespace eventloom
