#include "io/files/natural_order.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>

namespace eventloom {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the digits from the front of `text`; returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  auto number = text.substr(0, digits);
  text.remove_prefix(digits);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

/// Compares digit strings, which may be longer than any integer type holds.
std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  const auto by_length = a.size() <=> b.size();
  return by_length != 0 ? by_length : a.compare(b) <=> 0;
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) {
  auto rest_a = a;
  auto rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (is_digit(rest_a.front()) && is_digit(rest_b.front())) {
      const auto order = compare_numbers(take_number(rest_a), take_number(rest_b));
      if (order != 0) return order < 0;
      continue;
    }
    if (rest_a.front() != rest_b.front()) {
      return static_cast<unsigned char>(rest_a.front()) < static_cast<unsigned char>(rest_b.front());
    }
    rest_a.remove_prefix(1);
    rest_b.remove_prefix(1);
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;
}

}  // namespace eventloom
