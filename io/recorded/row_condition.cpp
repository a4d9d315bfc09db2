#include "io/recorded/row_condition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/files/table_fields.hpp"

namespace eventloom {

namespace {

using Comparison = RowTerm::Comparison;

struct Operator {
  std::string_view text;
  Comparison comparison;
};

/// Longer ones first.
constexpr std::array<Operator, 6> kOperators = {{{"==", Comparison::equal},
                                                 {"!=", Comparison::not_equal},
                                                 {"<=", Comparison::less_equal},
                                                 {">=", Comparison::greater_equal},
                                                 {"<", Comparison::less},
                                                 {">", Comparison::greater}}};

constexpr std::string_view kJoint = "&&";

bool is_quote(char c) { return c == '"' || c == '\''; }

/// The length of the value at the beginning of `text`, which ends at && or the end; a && in quotes does not count.
std::size_t length_of_value(std::string_view text) {
  if (!text.empty() && is_quote(text.front())) {
    for (auto close = text.find(text.front(), 1); close != std::string_view::npos;
         close = text.find(text.front(), close + 1)) {
      const auto behind = text.substr(close + 1);
      if (behind.empty() || behind.starts_with(kJoint)) return close + 1;
    }
  }
  return std::min(text.find(kJoint), text.size());
}

/// Whether a value has quotes, both of them; std::nullopt if it is none.
std::optional<bool> has_quotes(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value.size() >= 2 && is_quote(value.front()) && value.back() == value.front()) return true;
  const bool one = is_quote(value.front()) || is_quote(value.back());
  return one || value.find_first_of("=!<>") != std::string_view::npos ? std::nullopt : std::optional(false);
}

/// Takes a term from the beginning of `text`.
std::optional<RowTerm> take_term(std::string_view& text) {
  const auto at = text.find_first_of("=!<>");
  const auto column = text.substr(0, at);
  if (at == std::string_view::npos || at == 0 || column.find(kJoint) != std::string_view::npos) return std::nullopt;
  text.remove_prefix(at);
  const auto* const found =
      std::ranges::find_if(kOperators, [&](const Operator& known) { return text.starts_with(known.text); });
  if (found == kOperators.end()) return std::nullopt;
  text.remove_prefix(found->text.size());
  const auto value = text.substr(0, length_of_value(text));
  text.remove_prefix(value.size());
  const auto quoted = has_quotes(value);
  if (!quoted) return std::nullopt;
  return RowTerm::of(std::string(column), found->comparison,
                     std::string(*quoted ? value.substr(1, value.size() - 2) : value), *quoted);
}

std::vector<RowTerm> terms_in(const SourceUri& uri, std::string_view key, std::string_view rest) {
  std::vector<RowTerm> terms;
  for (bool more = true; more;) {
    const auto term = take_term(rest);
    if (!term) {
      uri.refuse(
          std::string(key) + "=" + uri.get(key, "") +
          " is not a condition: COLUMN==VALUE, with == != < <= > or >= (words: == or !=), several joined by &&; a word "
          "may have quotes, one before it and one behind it");
    }
    terms.push_back(*term);
    more = rest.starts_with(kJoint);
    if (more) rest.remove_prefix(kJoint.size());
  }
  return terms;
}

bool fits(RowTerm::Whole number, unsigned digits) {
  auto size = number < 0 ? -number : number;
  while (size != 0 && size % 2 == 0) size /= 2;
  return size >> digits == 0;
}

}  // namespace

RowTerm::Number RowTerm::number_in(std::string_view text) {
  text = boolean_as_number(text);
  const bool negative = text.starts_with('-');
  auto digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto* const end = digits.data() + digits.size();
  const auto whole = std::from_chars(digits.data(), end, magnitude, hex ? 16 : 10);
  if (whole.ec == std::errc() && whole.ptr == end) return negative ? -Whole{magnitude} : Whole{magnitude};
  if (hex || digits.starts_with('-')) return {};
  double real = 0;
  const auto parsed = std::from_chars(digits.data(), end, real);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(real)) return {};
  return negative ? -real : real;
}

std::optional<RowTerm> RowTerm::of(std::string column, Comparison comparison, std::string value, bool quoted) {
  const auto number = quoted ? Number() : number_in(value);
  const bool ordered = comparison != Comparison::equal && comparison != Comparison::not_equal;
  if (ordered && std::holds_alternative<std::monostate>(number)) return std::nullopt;
  return RowTerm(std::move(column), comparison, std::move(value), quoted, number);
}

RowTerm RowTerm::with_number(Whole number) const {
  auto term = *this;
  term.number_ = number;
  return term;
}

RowTerm RowTerm::of_digits(unsigned digits, const std::string& where) const {
  auto term = *this;
  term.digits_ = digits;
  if (auto* const real = std::get_if<double>(&term.number_)) *real = rounded_to(*real, digits);
  const auto* const whole = std::get_if<Whole>(&number_);
  const bool ordered = comparison_ != Comparison::equal && comparison_ != Comparison::not_equal;
  if (whole == nullptr || ordered || fits(*whole, digits)) return term;
  throw UserError(where + ": no number of " + std::to_string(digits) + " binary digits, as the column holds, is " +
                  value_ + ": compare by < or >");
}

template <class T>
bool RowTerm::compare(const T& left, const T& right) const {
  switch (comparison_) {
    case Comparison::equal: return left == right;
    case Comparison::not_equal: return left != right;
    case Comparison::less: return left < right;
    case Comparison::less_equal: return left <= right;
    case Comparison::greater: return left > right;
    case Comparison::greater_equal: break;
  }
  return left >= right;
}

bool RowTerm::holds(Whole number) const {
  if (const auto* const whole = std::get_if<Whole>(&number_)) return compare(number, *whole);
  return holds(static_cast<double>(number));
}

bool RowTerm::holds(double number) const {
  if (digits_ < kDoubleDigits) number = rounded_to(number, digits_);
  if (const auto* const whole = std::get_if<Whole>(&number_)) {
    constexpr double kMost = 0x1p64;
    if (number == std::floor(number) && std::abs(number) <= kMost) return compare(static_cast<Whole>(number), *whole);
    return compare(number, static_cast<double>(*whole));
  }
  const auto* const real = std::get_if<double>(&number_);
  return real != nullptr && compare(number, *real);
}

std::optional<bool> RowTerm::holds(std::string_view field) const {
  if (field.empty()) return std::nullopt;
  if (compares_words()) return compare(field, std::string_view(value_));
  const auto number = number_in(field);
  if (const auto* const whole = std::get_if<Whole>(&number)) return holds(*whole);
  const auto* const real = std::get_if<double>(&number);
  return real != nullptr ? std::optional(holds(*real)) : std::nullopt;
}

std::vector<RowTerm> row_condition(const SourceUri& uri) {
  return uri.has("where") ? terms_in(uri, "where", uri.get("where", "")) : std::vector<RowTerm>();
}

std::vector<RowTerm> turn_condition(const SourceUri& uri) {
  if (!uri.has("overflow")) return {};
  const auto text = uri.get("overflow", "");
  return terms_in(uri, "overflow", text.find_first_of("=!<>") == std::string::npos ? text + "!=0" : text);
}

}  // namespace eventloom
