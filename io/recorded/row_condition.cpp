#include "io/recorded/row_condition.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

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

std::optional<RowTerm> term_in(std::string_view text) {
  const auto at = text.find_first_of("=!<>");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  for (const auto& [written, comparison] : kOperators) {
    if (!text.substr(at).starts_with(written)) continue;
    const auto value = text.substr(at + written.size());
    if (value.empty() || value.find_first_of("=!<>") != std::string_view::npos) return std::nullopt;
    return RowTerm::of(std::string(text.substr(0, at)), comparison, std::string(value));
  }
  return std::nullopt;
}

std::vector<RowTerm> terms_in(const SourceUri& uri, std::string_view key, std::string_view rest) {
  std::vector<RowTerm> terms;
  for (bool more = true; more;) {
    const auto joint = rest.find("&&");
    const auto term = term_in(rest.substr(0, joint));
    if (!term) {
      uri.refuse(std::string(key) + "=" + uri.get(key, "") +
                 " is not a condition: COLUMN==VALUE, with == != < <= > or >= (words: == or !=), several joined by &&");
    }
    terms.push_back(*term);
    more = joint != std::string_view::npos;
    if (more) rest.remove_prefix(joint + 2);
  }
  return terms;
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

std::optional<RowTerm> RowTerm::of(std::string column, Comparison comparison, std::string value) {
  const auto number = number_in(value);
  const bool ordered = comparison != Comparison::equal && comparison != Comparison::not_equal;
  if (ordered && std::holds_alternative<std::monostate>(number)) return std::nullopt;
  return RowTerm(std::move(column), comparison, std::move(value), number);
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
