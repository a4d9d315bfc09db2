#include "io/hdf5_input/payload_column.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kRowsSeen = 65536;
constexpr unsigned kSingleDigits = 24;  ///< binary digits of a float

/// Whether a whole number can be represented exactly as a double.
bool is_exact(std::uint64_t magnitude) {
  constexpr unsigned kDigits = 53;
  return magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= static_cast<int>(kDigits);
}

}  // namespace

Hdf5PayloadColumn::Hdf5PayloadColumn(ColumnReader column, std::optional<PayloadKind> stated)
    : column_(std::move(column)), kind_(PayloadKind::u32) {
  kind_ = stated ? *stated : natural_kind();
}

PayloadKind Hdf5PayloadColumn::natural_kind() {
  if (column_.is_float()) return column_.digits() <= kSingleDigits ? PayloadKind::f32 : PayloadKind::f64;
  if (!column_.is_signed()) return PayloadKind::u32;
  if (column_.number_bytes() <= sizeof(std::uint32_t)) return PayloadKind::i32;
  try {
    column_.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(column_.size(), kRowsSeen)), integers_);
  } catch (const UnreadableRows&) {
    return PayloadKind::u32;  // reported when these rows are read
  }
  const auto negative = [](std::uint64_t number) { return static_cast<std::int64_t>(number) < 0; };
  return std::ranges::any_of(integers_, negative) ? PayloadKind::i32 : PayloadKind::u32;
}

void Hdf5PayloadColumn::read_numbers(std::uint64_t from, std::size_t n) {
  if (column_.is_float()) {
    column_.read(from, n, reals_);
  } else {
    column_.read(from, n, integers_);
  }
}

void Hdf5PayloadColumn::read(std::uint64_t from, std::size_t n, std::span<std::uint32_t> words, std::size_t stride) {
  read_numbers(from, n);
  const bool two = words_of(kind_) == 2;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = bits_of(i, from + i);
    words[i * stride] = static_cast<std::uint32_t>(bits);
    if (two) words[i * stride + 1] = static_cast<std::uint32_t>(bits >> 32);
  }
}

/// The i-th number read, as it is stored: the low 32 bits are the first word.
std::uint64_t Hdf5PayloadColumn::bits_of(std::size_t i, std::uint64_t row) const {
  const bool real = column_.is_float();
  const bool is_signed = column_.is_signed();
  if (kind_ == PayloadKind::f32 || kind_ == PayloadKind::f64) {
    const auto whole = real ? 0 : integers_[i];
    const bool negative = is_signed && static_cast<std::int64_t>(whole) < 0;
    if (!is_exact(negative ? 0 - whole : whole)) refuse(i, row);
    const double magnitude = static_cast<double>(negative ? 0 - whole : whole);
    const double number = real ? reals_[i] : negative ? -magnitude : magnitude;
    if (kind_ == PayloadKind::f64) return std::bit_cast<std::uint64_t>(number);
    const auto single = static_cast<float>(number);
    if (static_cast<double>(single) != number && !std::isnan(number)) refuse(i, row);
    return std::bit_cast<std::uint32_t>(single);
  }
  if (real) {
    const double low = kind_ == PayloadKind::i32 ? -0x1p31 : 0;
    const double high = kind_ == PayloadKind::i32 ? 0x1p31 : 0x1p32;
    if (!(reals_[i] >= low && reals_[i] < high) || reals_[i] != std::floor(reals_[i])) refuse(i, row);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(reals_[i]));
  }
  const bool fits = kind_ == PayloadKind::u32
                        ? integers_[i] <= std::numeric_limits<std::uint32_t>::max()
                        : (is_signed ? std::in_range<std::int32_t>(static_cast<std::int64_t>(integers_[i]))
                                     : std::in_range<std::int32_t>(integers_[i]));
  if (!fits) refuse(i, row);
  return static_cast<std::uint32_t>(integers_[i]);
}

void Hdf5PayloadColumn::refuse(std::size_t i, std::uint64_t row) const {
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(integers_[i]) < 0;
  const bool above = !column_.is_float() && !negative && kind_ == PayloadKind::u32;
  const auto number = column_.is_float() ? std::to_string(reals_[i])
                      : negative         ? std::to_string(static_cast<std::int64_t>(integers_[i]))
                                         : std::to_string(integers_[i]);
  throw UserError("'" + column_.name() + "' row " + std::to_string(row) + ": " + number +
                  (above ? " is above 4294967295" : " is not exactly a number of " + std::string(name_of(kind_))) +
                  ": say what the column holds, as in payload=NAME:f64 (u32, i32, f32 or f64)");
}

}  // namespace eventloom
