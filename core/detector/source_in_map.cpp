#include "core/detector/source_in_map.hpp"

#include <algorithm>

namespace eventloom {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"#") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string source_in_map(std::span<const std::string> names, std::size_t number) {
  const auto& name = names[number];
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
  const bool alone = std::ranges::count(names, name) == 1;
  const bool like_numbers = name.find_first_not_of("0123456789-") == std::string::npos;
  return printable && alone && !like_numbers ? quoted(name) : std::to_string(number);
}

}  // namespace eventloom
