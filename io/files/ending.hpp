#pragma once

#include <algorithm>
#include <string_view>

namespace eventloom {

/// Whether a name has an ending, ignoring case. `ending` must be in lower case.
inline bool ends_with_any_case(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  const auto in_lower_case = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, in_lower_case);
}

}  // namespace eventloom
