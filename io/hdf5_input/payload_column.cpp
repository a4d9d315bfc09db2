#include "io/hdf5_input/payload_column.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "io/recorded/payload_bits.hpp"
#include "io/recorded/precision.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kRowsSeen = 65536;

}  // namespace

Hdf5PayloadColumn::Hdf5PayloadColumn(ColumnReader column, std::optional<PayloadKind> stated)
    : values_(std::move(column), ValueColumn::Takes::all), kind_(stated ? *stated : natural_kind()) {
  if (holds_nan()) values_.accept_unwritten();
}

PayloadKind Hdf5PayloadColumn::natural_kind() {
  if (values_.scale().any()) return PayloadKind::f64;
  if (column().is_float()) return column().digits() <= kSingleDigits ? PayloadKind::f32 : PayloadKind::f64;
  if (values_.may_lack()) return PayloadKind::f64;
  const auto by_type = column().is_signed() ? PayloadKind::i32 : PayloadKind::u32;
  const bool wide = column().is_signed() && column().number_bytes() > sizeof(std::uint32_t);
  if (!wide) return by_type;
  try {
    values_.read(0, static_cast<std::size_t>(std::min<std::uint64_t>(column().size(), kRowsSeen)));
  } catch (const UnreadableRows&) {
    return PayloadKind::u32;  // reported when these rows are read
  }
  const auto negative = [](std::uint64_t number) { return static_cast<std::int64_t>(number) < 0; };
  return std::ranges::any_of(values_.integers(), negative) ? by_type : PayloadKind::u32;
}

void Hdf5PayloadColumn::read(std::uint64_t from, std::size_t n, std::span<std::uint32_t> words, std::size_t stride,
                             LostRows& lost) {
  values_.read(from, n);
  if (put_plain(words, stride)) return;
  const bool two = words_of(kind_) == 2;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = bits_of(i);
    if (!bits && !lost[i]) lost.mark_bad(i, defect(i));
    words[i * stride] = static_cast<std::uint32_t>(bits.value_or(0));
    if (two) words[i * stride + 1] = static_cast<std::uint32_t>(bits.value_or(0) >> 32);
  }
}

/// The common case: puts numbers that all fit the kind; returns false when they do not.
bool Hdf5PayloadColumn::put_plain(std::span<std::uint32_t> words, std::size_t stride) const {
  if (!values_.missing().empty() || values_.scale().any()) return false;
  if (!column().is_float()) return !holds_nan() && put_integers(words, stride);
  if (kind_ != PayloadKind::f32 || column().digits() > kSingleDigits || column().number_bytes() > sizeof(float))
    return false;
  const auto reals = values_.reals();
  for (std::size_t i = 0; i < reals.size(); ++i)
    words[i * stride] = std::bit_cast<std::uint32_t>(static_cast<float>(reals[i]));
  return true;
}

bool Hdf5PayloadColumn::put_integers(std::span<std::uint32_t> words, std::size_t stride) const {
  const bool is_signed = column().is_signed();
  const std::uint64_t shift = kind_ == PayloadKind::i32 && is_signed ? std::uint64_t{1} << 31 : 0;
  const std::uint64_t most = kind_ == PayloadKind::i32 && !is_signed ? (std::uint64_t{1} << 31) - 1 : ~std::uint32_t{0};
  const auto integers = values_.integers();
  std::uint64_t above = 0;
  for (const auto number : integers) above |= number + shift > most ? 1 : 0;
  if (above != 0) return false;
  for (std::size_t i = 0; i < integers.size(); ++i) words[i * stride] = static_cast<std::uint32_t>(integers[i]);
  return true;
}

/// The i-th number read, as it is stored: the low 32 bits are the first word. std::nullopt when the kind cannot hold
/// it; fractions of packed numbers are rounded to the kind.
std::optional<std::uint64_t> Hdf5PayloadColumn::bits_of(std::size_t i) const {
  if (values_.lacks(i)) return payload_bits(std::numeric_limits<double>::quiet_NaN(), kind_);
  const auto whole = column().is_float() ? std::nullopt : values_.whole(i);
  if (whole) return payload_bits(*whole, kind_);
  return payload_bits(values_.real(i), kind_, values_.scale().any() ? Rounding::nearest : Rounding::none);
}

std::string Hdf5PayloadColumn::defect(std::size_t i) const {
  const auto place = values_.place(i);
  if (values_.lacks(i)) return place + "it has no value, and whole numbers no NaN: payload=NAME:f64 keeps such rows";
  const bool packed = values_.scale().any();
  const auto text = place + values_.text(i) + (packed ? ", with its scale_factor and add_offset," : "");
  if (kind_ == PayloadKind::f64) return text + " is not exactly a number of f64, nor of any other kind of payload";
  const bool above = !column().is_float() && !values_.is_negative(i) && !packed && kind_ == PayloadKind::u32;
  return text + (above ? " is above 4294967295" : " is not exactly a number of " + std::string(name_of(kind_))) +
         ": say what the column holds, as in payload=NAME:f64 (u32, i32, f32 or f64)";
}

}  // namespace eventloom
