#include "io/csv/csv_payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/runtime/format.hpp"
#include "formats/units.hpp"
#include "io/csv/table_rows.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/recorded/row_condition.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kTableRowsSeen = 10000;

/// The digits of a whole number from 0 if they reach down to the units, as in 12.5e1 but not in 3e30; empty for other
/// text.
std::string whole_digits(std::string_view text) {
  const auto mantissa = text.substr(0, text.find_first_of("eE"));
  auto power = text.substr(std::min(mantissa.size() + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  int decimals = 0;
  (void)std::from_chars(power.data(), power.data() + power.size(), decimals);
  decimals = -decimals;
  const auto point = mantissa.find('.');
  std::string digits(mantissa.substr(0, point));
  if (point != std::string_view::npos) {
    digits += mantissa.substr(point + 1);
    decimals += static_cast<int>(mantissa.size() - point - 1);
  }
  for (; decimals > 0 && digits.ends_with('0'); --decimals) digits.pop_back();
  return decimals == 0 ? digits.substr(std::min(digits.find_first_not_of('0'), digits.size())) : std::string();
}

/// Whether the text is a whole number from 0 to which `value`, of `digits` binary digits, is not equal.
bool is_inexact(std::string_view text, double value, unsigned digits) {
  if (const auto number = parse_whole(text, std::numeric_limits<std::uint64_t>::max()))
    return *number != 0 && std::bit_width(*number) - static_cast<unsigned>(std::countr_zero(*number)) > digits;
  const auto written = whole_digits(text);
  return !written.empty() && written != fmt::format("{:.0f}", value);
}

/// std::nullopt if the text is no number, or a whole number that T does not hold exactly.
template <class T>
std::optional<T> real_in(std::string_view text) {
  if (is_missing_number(text)) return std::numeric_limits<T>::quiet_NaN();
  if (text.starts_with('+')) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr auto kExact = static_cast<T>(std::uint64_t{1} << kDigits);
  if (std::abs(value) < kExact) return value;
  if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  return is_inexact(digits, std::abs(value), kDigits) ? std::nullopt : std::optional(value);
}

/// A whole number in floating point, as numpy writes it: 1.000e+00.
std::optional<std::int64_t> whole_in(std::string_view text, std::int64_t low, std::int64_t high) {
  const bool negative = text.starts_with('-');
  const auto magnitude = parse_whole(text.substr(negative ? 1 : 0), std::numeric_limits<std::uint32_t>::max());
  if (!magnitude) return std::nullopt;
  const auto whole = negative ? -static_cast<std::int64_t>(*magnitude) : static_cast<std::int64_t>(*magnitude);
  return whole >= low && whole <= high ? std::optional(whole) : std::nullopt;
}

/// The bits of a number as it is stored: the low 32 bits are the first word.
std::optional<std::uint64_t> bits_in(std::string_view text, PayloadKind kind) {
  switch (kind) {
    case PayloadKind::u32: {
      const auto whole = parse_integer(text, 0, std::numeric_limits<std::uint32_t>::max());
      return whole ? std::optional(static_cast<std::uint64_t>(*whole)) : std::nullopt;
    }
    case PayloadKind::i32: {
      using Limits = std::numeric_limits<std::int32_t>;
      const auto whole = parse_integer(text, Limits::min(), Limits::max());
      return whole ? std::optional<std::uint64_t>(static_cast<std::uint32_t>(*whole)) : std::nullopt;
    }
    case PayloadKind::f32: {
      const auto real = real_in<float>(text);
      return real ? std::optional<std::uint64_t>(std::bit_cast<std::uint32_t>(*real)) : std::nullopt;
    }
    case PayloadKind::f64: break;
  }
  const auto real = real_in<double>(text);
  return real ? std::optional(std::bit_cast<std::uint64_t>(*real)) : std::nullopt;
}

/// Likewise for a whole number that is not written as one.
std::optional<std::uint64_t> whole_bits(std::string_view text, PayloadKind kind) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (kind != PayloadKind::u32 && kind != PayloadKind::i32) return std::nullopt;
  const bool is_signed = kind == PayloadKind::i32;
  const auto whole = whole_in(text, is_signed ? Limits::min() : 0,
                              is_signed ? Limits::max() : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  return whole ? std::optional<std::uint64_t>(static_cast<std::uint32_t>(*whole)) : std::nullopt;
}

/// The kinds, of those that are chosen for the user, that hold all numbers of a column. Fields that are not numbers are
/// reported when they are read.
struct FittingKinds {
  static constexpr std::array kKinds = {PayloadKind::u32, PayloadKind::i32, PayloadKind::f64};
  std::array<bool, kKinds.size()> fits = {true, true, true};

  void see(std::string_view text) {
    text = boolean_as_number(text);
    if (!bits_in(text, kKinds.back())) return;
    for (std::size_t i = 0; i < kKinds.size(); ++i) fits[i] = fits[i] && bits_in(text, kKinds[i]);
  }
  /// u32 if no field was a number. f64 holds all that are.
  [[nodiscard]] PayloadKind first() const {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (fits[i]) return kKinds[i];
    }
    return PayloadKind::u32;
  }
};

}  // namespace

CsvPayload::CsvPayload(const SourceUri& uri, const CsvColumns& columns) {
  for (const auto& [name, kind] : columns.payload_keys) {
    columns_.push_back({name, kind.value_or(PayloadKind::u32)});
    stated_.push_back(kind.has_value());
  }
  if (std::ranges::find(stated_, false) != stated_.end()) learn_kinds(uri, columns);
  require_typed_columns(uri, columns_);
}

void CsvPayload::learn_kinds(const SourceUri& uri, const CsvColumns& columns) {
  std::vector<FittingKinds> kinds(columns_.size());
  TableRows rows(uri.path(), columns);
  for (std::size_t n = 0; n < kTableRowsSeen && rows.next_intact() && rows.is_whole(); ++n) {
    const bool is_row = rows.has_time() && columns.channel <= rows.fields().size();
    for (std::size_t i = 0; is_row && i < kinds.size(); ++i) kinds[i].see(rows.value(columns.payload[i]));
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!stated_[i]) columns_[i].kind = kinds[i].first();
  }
}

bool CsvPayload::append(std::string_view text, std::size_t i, std::vector<std::uint32_t>& words) const {
  const auto kind = columns_[i].kind;
  auto bits = bits_in(text, kind);
  if (!bits) bits = bits_in(boolean_as_number(text), kind);
  if (!bits && stated_[i]) bits = whole_bits(text, kind);
  if (!bits) return false;
  words.push_back(static_cast<std::uint32_t>(*bits));
  if (words_of(kind) == 2) words.push_back(static_cast<std::uint32_t>(*bits >> 32));
  return true;
}

std::string CsvPayload::expected(std::string_view text, std::size_t i) const {
  constexpr std::array kNumbers = {"a whole number from 0 to 4294967295", "a whole number of 32 bits",
                                   "a number; whole ones of up to 24 binary digits",
                                   "a number; whole ones of up to 53 binary digits"};
  const auto& [name, kind] = columns_[i];
  if (!bits_in(text, PayloadKind::f64) && RowTerm::is_number(text)) {
    return "payload: no kind, u32, i32, f32 or f64, holds it exactly: leave " + name + " out of payload=";
  }
  const std::string number = kNumbers[static_cast<std::size_t>(kind)];
  if (is_missing_number(text))
    return "payload: a value is missing, and only f32 and f64 have NaN for it: payload=" + name +
           ":f64, and likewise for all that are to be kept";
  if (stated_[i]) return "payload, " + number;
  return "payload, " + number + " as in the first rows: say what it is, as in payload=" + name +
         ":f64 (u32, i32, f32 or f64), or give payload=COLUMN,... for those to keep, or payload= for none";
}

}  // namespace eventloom
