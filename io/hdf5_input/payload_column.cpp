#include "io/hdf5_input/payload_column.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kRowsSeen = 65536;
constexpr unsigned kSingleDigits = 24;  ///< binary digits of a float

/// Whether a whole number can be represented exactly as a double.
bool is_exact(std::uint64_t magnitude) {
  constexpr unsigned kDigits = 53;
  return magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= static_cast<int>(kDigits);
}

std::optional<std::uint64_t> as_float(double number, bool may_round) {
  const auto single = static_cast<float>(number);
  if (!may_round && static_cast<double>(single) != number && !std::isnan(number)) return std::nullopt;
  return std::bit_cast<std::uint32_t>(single);
}

std::optional<std::uint64_t> as_whole(double number, PayloadKind kind) {
  const double low = kind == PayloadKind::i32 ? -0x1p31 : 0;
  const double high = kind == PayloadKind::i32 ? 0x1p31 : 0x1p32;
  if (!(number >= low && number < high) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
}

template <class Whole>
std::optional<std::uint64_t> as_whole(Whole number, PayloadKind kind) {
  const bool fits =
      kind == PayloadKind::u32 ? std::in_range<std::uint32_t>(number) : std::in_range<std::int32_t>(number);
  return fits ? std::optional<std::uint64_t>(static_cast<std::uint32_t>(number)) : std::nullopt;
}

}  // namespace

Hdf5PayloadColumn::Hdf5PayloadColumn(ColumnReader column, std::optional<PayloadKind> stated)
    : column_(std::move(column)), missing_values_(column_), scale_(column_) {
  kind_ = stated ? *stated : natural_kind();
  if (holds_nan()) column_.accept_unwritten();
}

PayloadKind Hdf5PayloadColumn::natural_kind() {
  if (scale_.any()) return PayloadKind::f64;
  if (column_.is_float()) return column_.digits() <= kSingleDigits ? PayloadKind::f32 : PayloadKind::f64;
  const auto by_type = column_.is_signed() ? PayloadKind::i32 : PayloadKind::u32;
  const bool wide = column_.is_signed() && column_.number_bytes() > sizeof(std::uint32_t);
  if (!wide && !missing_values_.any()) return by_type;
  try {
    read_numbers(0, static_cast<std::size_t>(std::min<std::uint64_t>(column_.size(), kRowsSeen)));
  } catch (const UnreadableRows&) {
    return wide ? PayloadKind::u32 : by_type;  // reported when these rows are read
  }
  if (std::ranges::find(missing_, true) != missing_.end()) return PayloadKind::f64;
  const auto negative = [](std::uint64_t number) { return static_cast<std::int64_t>(number) < 0; };
  return !wide || std::ranges::any_of(integers_, negative) ? by_type : PayloadKind::u32;
}

void Hdf5PayloadColumn::read_numbers(std::uint64_t from, std::size_t n) {
  missing_.assign(missing_values_.any() ? n : 0, false);
  if (column_.is_float()) {
    column_.read(from, n, reals_);
    if (missing_values_.any()) missing_values_.mark(from, reals_, missing_);
  } else {
    column_.read(from, n, integers_);
    if (missing_values_.any()) missing_values_.mark(from, integers_, missing_);
  }
}

/// The common case: puts numbers that all fit the kind; returns false when they do not.
bool Hdf5PayloadColumn::put_plain(std::span<std::uint32_t> words, std::size_t stride) const {
  if (!missing_.empty() || scale_.any()) return false;
  if (!column_.is_float()) {
    const bool is_signed = column_.is_signed();
    const std::uint64_t shift = kind_ == PayloadKind::i32 && is_signed ? std::uint64_t{1} << 31 : 0;
    const std::uint64_t most =
        kind_ == PayloadKind::i32 && !is_signed ? (std::uint64_t{1} << 31) - 1 : ~std::uint32_t{0};
    std::uint64_t above = 0;
    for (const auto number : integers_) above |= number + shift > most ? 1 : 0;
    if (above != 0 || holds_nan()) return false;
    for (std::size_t i = 0; i < integers_.size(); ++i) words[i * stride] = static_cast<std::uint32_t>(integers_[i]);
    return true;
  }
  if (kind_ == PayloadKind::f32 && column_.digits() <= kSingleDigits && column_.number_bytes() <= sizeof(float)) {
    for (std::size_t i = 0; i < reals_.size(); ++i)
      words[i * stride] = std::bit_cast<std::uint32_t>(static_cast<float>(reals_[i]));
    return true;
  }
  return false;
}

void Hdf5PayloadColumn::read(std::uint64_t from, std::size_t n, std::span<std::uint32_t> words, std::size_t stride,
                             LostRows& lost) {
  read_numbers(from, n);
  if (put_plain(words, stride)) return;
  const bool two = words_of(kind_) == 2;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = bits_of(i);
    if (!bits && !(lost.any() && lost[i])) lost.mark_bad(i, defect(i, from + i));
    words[i * stride] = static_cast<std::uint32_t>(bits.value_or(0));
    if (two) words[i * stride + 1] = static_cast<std::uint32_t>(bits.value_or(0) >> 32);
  }
}

/// The i-th number read, as it is stored: the low 32 bits are the first word. std::nullopt when the kind cannot hold
/// it.
std::optional<std::uint64_t> Hdf5PayloadColumn::bits_of(std::size_t i) const {
  if (!missing_.empty() && missing_[i]) {
    if (kind_ == PayloadKind::f64) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    if (kind_ == PayloadKind::f32) return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
    return std::nullopt;
  }
  if (scale_.any()) return scaled_bits(i);
  return column_.is_float() ? real_bits(i) : whole_bits(i);
}

std::optional<std::uint64_t> Hdf5PayloadColumn::real_bits(std::size_t i) const {
  if (kind_ == PayloadKind::f64) return std::bit_cast<std::uint64_t>(reals_[i]);
  return kind_ == PayloadKind::f32 ? as_float(reals_[i], false) : as_whole(reals_[i], kind_);
}

std::optional<std::uint64_t> Hdf5PayloadColumn::whole_bits(std::size_t i) const {
  const auto number = integers_[i];
  const bool is_signed = column_.is_signed();
  if (!holds_nan()) return is_signed ? as_whole(static_cast<std::int64_t>(number), kind_) : as_whole(number, kind_);
  const bool negative = is_signed && static_cast<std::int64_t>(number) < 0;
  const auto size = negative ? 0 - number : number;
  if (!is_exact(size)) return std::nullopt;
  const double real = negative ? -static_cast<double>(size) : static_cast<double>(size);
  return kind_ == PayloadKind::f32 ? as_float(real, false) : std::bit_cast<std::uint64_t>(real);
}

/// Fractions are rounded to the kind; whole numbers must fit exactly.
std::optional<std::uint64_t> Hdf5PayloadColumn::scaled_bits(std::size_t i) const {
  const bool is_signed = column_.is_signed();
  const auto whole = column_.is_float() ? std::nullopt : scale_.whole(integers_[i], is_signed);
  if (!holds_nan()) {
    if (whole) return as_whole(*whole, kind_);
    return column_.is_float() ? as_whole(scale_.real(reals_[i]), kind_) : std::nullopt;
  }
  if (whole && !is_exact(*whole < 0 ? 0 - static_cast<std::uint64_t>(*whole) : static_cast<std::uint64_t>(*whole)))
    return std::nullopt;
  const double real = column_.is_float() ? scale_.real(reals_[i]) : scale_.real(integers_[i], is_signed);
  return kind_ == PayloadKind::f32 ? as_float(real, !whole) : std::bit_cast<std::uint64_t>(real);
}

std::string Hdf5PayloadColumn::defect(std::size_t i, std::uint64_t row) const {
  const auto place = fmt::format("'{}' row {}: ", column_.name(), row);
  if (!missing_.empty() && missing_[i])
    return place + "it has no value, and whole numbers no NaN: payload=NAME:f64 keeps such rows";
  const bool negative = column_.is_signed() && static_cast<std::int64_t>(integers_[i]) < 0;
  const auto number = column_.is_float() ? std::to_string(reals_[i])
                      : negative         ? std::to_string(static_cast<std::int64_t>(integers_[i]))
                                         : std::to_string(integers_[i]);
  const auto text = place + number + (scale_.any() ? ", with its scale_factor and add_offset," : "");
  if (kind_ == PayloadKind::f64) return text + " is not exactly a number of f64, nor of any other kind of payload";
  const bool above = !column_.is_float() && !negative && !scale_.any() && kind_ == PayloadKind::u32;
  return text + (above ? " is above 4294967295" : " is not exactly a number of " + std::string(name_of(kind_))) +
         ": say what the column holds, as in payload=NAME:f64 (u32, i32, f32 or f64)";
}

}  // namespace eventloom
