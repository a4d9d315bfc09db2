#include "io/csv/csv_payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "io/csv/csv_fields.hpp"
#include "io/csv/table_rows.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kTableRowsSeen = 10000;

template <class T>
std::optional<T> real_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
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

/// The kinds, of those that are chosen for the user, that hold all numbers of a column. Fields that are not numbers are
/// reported when they are read.
struct FittingKinds {
  static constexpr std::array kKinds = {PayloadKind::u32, PayloadKind::i32, PayloadKind::f64};
  std::array<bool, kKinds.size()> fits = {true, true, true};

  void see(std::string_view text) {
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
    const auto& fields = rows.fields();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (columns.payload[i] <= fields.size()) kinds[i].see(fields[columns.payload[i] - 1]);
    }
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!stated_[i]) columns_[i].kind = kinds[i].first();
  }
}

bool CsvPayload::append(std::string_view text, std::size_t i, std::vector<std::uint32_t>& words) const {
  const auto bits = bits_in(text, columns_[i].kind);
  if (!bits) return false;
  words.push_back(static_cast<std::uint32_t>(*bits));
  if (words_of(columns_[i].kind) == 2) words.push_back(static_cast<std::uint32_t>(*bits >> 32));
  return true;
}

std::string CsvPayload::expected(std::size_t i) const {
  constexpr std::array kNumbers = {"a whole number from 0 to 4294967295", "a whole number of 32 bits", "a number",
                                   "a number"};
  const auto& [name, kind] = columns_[i];
  const std::string number = kNumbers[static_cast<std::size_t>(kind)];
  if (stated_[i]) return "payload, " + number;
  return "payload, " + number + " as in the first rows: say what it is, as in payload=" + name +
         ":f64 (u32, i32, f32 or f64), or give payload=COLUMN,... for those to keep, or payload= for none";
}

}  // namespace eventloom
