#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Quoted fields of tables (RFC 4180).
namespace eventloom {

/// Position of the closing quote of a field that begins with a quote; quotes inside are doubled. npos if there is none.
inline std::size_t closing_quote(std::string_view field) {
  auto at = field.find('"', 1);
  while (at != std::string_view::npos && field.substr(at + 1).starts_with('"')) at = field.find('"', at + 2);
  return at;
}

/// Text between the two quotes, with doubled quotes made single.
inline std::string with_single_quotes(std::string_view inside) {
  std::string text;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    text += inside[i];
    if (inside[i] == '"') ++i;
  }
  return text;
}

}  // namespace eventloom
