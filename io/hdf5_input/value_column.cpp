#include "io/hdf5_input/value_column.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/recorded/precision.hpp"

namespace eventloom {

namespace {

/// Tests the exponents, which needs no branch per number, unlike std::isfinite.
bool all_finite(std::span<const double> numbers) {
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;
  bool finite = true;
  for (const double number : numbers) finite &= (std::bit_cast<std::uint64_t>(number) & kExponent) != kExponent;
  return finite;
}

WideWhole as_whole(std::uint64_t bits, bool is_signed) {
  return is_signed ? WideWhole{static_cast<std::int64_t>(bits)} : WideWhole{bits};
}

std::optional<WideWhole> as_whole(const StoredNumber& number) {
  return number.is_float ? whole_of(number.real) : as_whole(number.whole, number.is_negative);
}

double as_real(const StoredNumber& number) {
  return number.is_float ? number.real : static_cast<double>(as_whole(number.whole, number.is_negative));
}

template <class Number>
void mark_equal(std::span<const Number> numbers, const std::vector<Number>& marked, std::vector<bool>& missing) {
  for (const auto value : marked) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == value) missing[i] = true;
    }
  }
}

/// std::nullopt when there is no such attribute.
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

DecimalScale stated_scale(const ColumnReader& column) {
  const auto factor = stated_number(column, "scale_factor");
  const auto offset = stated_number(column, "add_offset");
  if (!factor && !offset) return {};
  if (factor && factor->size.digits == 0) throw UserError("'" + column.name() + "': its attribute scale_factor is 0");
  return {factor.value_or(SignedDecimal{{1, 0}, false}), offset.value_or(SignedDecimal{})};
}

}  // namespace

ValueColumn::ValueColumn(ColumnReader column, Takes takes)
    : column_(std::move(column)), takes_(takes), scale_(stated_scale(column_)) {
  if (takes_ != Takes::all) column_.require_written();
  unwritten_ = column_.unwritten();
  learn_marks();
  learn_range();
  may_lack_ = unwritten_.any() || !marked_integers_.empty() || !marked_reals_.empty() || low_ || high_;
}

void ValueColumn::learn_marks() {
  std::vector<StoredNumber> marks;
  for (const char* attribute : {"_FillValue", "missing_value"})
    std::ranges::move(column_.numbers_of(attribute), std::back_inserter(marks));
  if (auto fill = column_.fill_value(); fill && column_.number_bytes() > 1) marks.push_back(std::move(*fill));
  for (const auto& mark : marks) {
    if (!column_.is_float()) {
      const auto whole = as_whole(mark);
      const auto bits = static_cast<std::uint64_t>(whole.value_or(0));
      if (whole && as_whole(bits, column_.is_signed()) == *whole) marked_integers_.push_back(bits);
      continue;
    }
    const double real = as_real(mark);
    // The attribute may have more digits than the column: -9999.9 as a double.
    marked_reals_.push_back(rounded_to(real, column_.digits()));
  }
}

/// A bound of more digits than the column has is rounded as its numbers are, so that it holds for itself: 0.8 as a
/// double. NaN is no bound.
void ValueColumn::learn_range() {
  const auto bound = [this](StoredNumber number) -> std::optional<StoredNumber> {
    if (!number.is_float) return number;
    if (std::isnan(number.real)) return std::nullopt;
    if (column_.is_float()) number.real = rounded_to(number.real, column_.digits());
    return number;
  };
  const auto one = [&](const char* attribute) {
    const auto numbers = column_.numbers_of(attribute);
    return numbers.size() == 1 ? bound(numbers.front()) : std::nullopt;
  };
  low_ = one("valid_min");
  high_ = one("valid_max");
  const auto range = column_.numbers_of("valid_range");
  if (range.size() != 2) return;
  low_ = bound(range[0]);
  high_ = bound(range[1]);
}

void ValueColumn::read(std::uint64_t from, std::size_t n) {
  row_ = from;
  missing_.clear();
  if (column_.is_float()) {
    column_.read(from, n, reals_);
    if (!may_lack_ && (takes_ == Takes::all || all_finite(reals_))) return;
  } else {
    column_.read(from, n, integers_);
    if (!may_lack_) return;
  }
  missing_.resize(n);
  find_missing();
}

void ValueColumn::find_missing() {
  unwritten_.mark(row_, missing_);
  if (column_.is_float()) {
    mark_equal<double>(reals_, marked_reals_, missing_);
  } else {
    mark_equal<std::uint64_t>(integers_, marked_integers_, missing_);
  }
  for (std::size_t i = 0; (low_ || high_) && i < missing_.size(); ++i) missing_[i] = missing_[i] || !is_in_range(i);
  for (std::size_t i = 0; takes_ != Takes::all && i < reals_.size(); ++i) {
    if (takes_ == Takes::finite ? !std::isfinite(reals_[i]) : std::isnan(reals_[i])) missing_[i] = true;
  }
}

/// Bounds of another kind than packed numbers are those of the values (netCDF, attribute conventions).
bool ValueColumn::is_in_range(std::size_t i) const {
  const auto reaches = [&](const StoredNumber& low, int sign) {
    if (scale_.any() && low.is_float != column_.is_float()) return sign * (real(i) - as_real(low)) >= 0;
    const auto bound = as_whole(low);
    if (column_.is_float() || !bound) return sign * ((column_.is_float() ? reals_[i] : real(i)) - as_real(low)) >= 0;
    return sign * (as_whole(integers_[i], column_.is_signed()) - *bound) >= 0;
  };
  const bool is_nan = column_.is_float() && std::isnan(reals_[i]);  // left to takes_
  return is_nan || ((!low_ || reaches(*low_, 1)) && (!high_ || reaches(*high_, -1)));
}

std::optional<WideWhole> ValueColumn::whole_value(std::size_t i) const {
  if (column_.is_float()) return whole_of(real(i));
  return scale_.whole(as_whole(integers_[i], column_.is_signed()));
}

double ValueColumn::real(std::size_t i) const {
  if (column_.is_float()) return scale_.any() ? scale_.real(reals_[i]) : reals_[i];
  const auto whole = as_whole(integers_[i], column_.is_signed());
  return scale_.any() ? scale_.real(whole) : static_cast<double>(whole);
}

std::string ValueColumn::text(std::size_t i) const {
  if (column_.is_float()) return fmt::format("{}", reals_[i]);
  return column_.is_signed() ? std::to_string(static_cast<std::int64_t>(integers_[i])) : std::to_string(integers_[i]);
}

std::string ValueColumn::place(std::size_t i) const { return fmt::format("'{}' row {}: ", column_.name(), row_ + i); }

}  // namespace eventloom
