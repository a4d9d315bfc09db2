#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Quoted fields of tables (RFC 4180).
namespace eventloom {

/// Where the field that begins with a quote is closed; quotes inside are twice. npos when it is not.
inline std::size_t closing_quote(std::string_view field) {
  auto at = field.find('"', 1);
  while (at != std::string_view::npos && field.substr(at + 1).starts_with('"')) at = field.find('"', at + 2);
  return at;
}

/// What stands between the two, quotes once.
inline std::string with_single_quotes(std::string_view inside) {
  std::string text;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    text += inside[i];
    if (inside[i] == '"') ++i;
  }
  return text;
}

}  // namespace eventloom
