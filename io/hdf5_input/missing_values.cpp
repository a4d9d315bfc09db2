#include "io/hdf5_input/missing_values.hpp"

#include <cmath>
#include <optional>

namespace eventloom {

namespace {

constexpr unsigned kDigitsOfFloat = 24;

/// The bits of a whole number that a column of integers may hold.
std::optional<std::uint64_t> as_integer(const StoredNumber& number, bool is_signed) {
  constexpr double kSignedEnd = 0x1p63;
  if (!number.is_float) {
    const bool above = !number.is_negative && static_cast<std::int64_t>(number.whole) < 0;
    return (is_signed ? above : number.is_negative) ? std::nullopt : std::optional(number.whole);
  }
  if (!std::isfinite(number.real) || number.real != std::floor(number.real)) return std::nullopt;
  if (number.real >= kSignedEnd && !is_signed && number.real < 2 * kSignedEnd)
    return static_cast<std::uint64_t>(number.real);
  if (number.real >= kSignedEnd || number.real < (is_signed ? -kSignedEnd : 0)) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number.real));
}

double as_real(const StoredNumber& number) {
  if (number.is_float) return number.real;
  return number.is_negative ? static_cast<double>(static_cast<std::int64_t>(number.whole))
                            : static_cast<double>(number.whole);
}

template <class Number>
void mark_equal(std::span<const Number> numbers, const std::vector<Number>& values, std::vector<bool>& missing) {
  for (const auto value : values) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == value) missing[i] = true;
    }
  }
}

}  // namespace

MissingValues::MissingValues(const ColumnReader& column) : unwritten_(column.unwritten()) {
  for (const char* attribute : {"_FillValue", "missing_value"}) {
    for (const auto& number : column.numbers_of(attribute)) add(column, number);
  }
  if (const auto fill = column.fill_value(); fill && column.number_bytes() > 1) add(column, *fill);
}

void MissingValues::add(const ColumnReader& column, const StoredNumber& number) {
  if (!column.is_float()) {
    if (const auto bits = as_integer(number, column.is_signed())) integers_.push_back(*bits);
    return;
  }
  const double real = as_real(number);
  reals_.push_back(real);
  // An attribute of more digits than the column has: -9999.9 as a double.
  if (column.digits() <= kDigitsOfFloat) reals_.push_back(static_cast<double>(static_cast<float>(real)));
}

void MissingValues::mark(std::uint64_t from, std::span<const std::uint64_t> numbers, std::vector<bool>& missing) const {
  unwritten_.mark(from, missing);
  mark_equal(numbers, integers_, missing);
}

void MissingValues::mark(std::uint64_t from, std::span<const double> numbers, std::vector<bool>& missing) const {
  unwritten_.mark(from, missing);
  mark_equal(numbers, reals_, missing);
}

}  // namespace eventloom
