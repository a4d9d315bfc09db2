#include "core/definitions/text_mistake.hpp"

#include <algorithm>
#include <cstddef>

namespace eventloom {

namespace {

constexpr std::size_t kBefore = 60;  ///< columns kept before the mistake
constexpr std::size_t kWidth = 100;  ///< columns in total
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kCut = "...";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

/// The first position at or after `at` where a character begins, or the end.
std::size_t character_at(std::string_view text, std::size_t at) {
  while (at < text.size() && !begins_character(text[at])) ++at;
  return std::min(at, text.size());
}

}  // namespace

std::string shortened(std::string_view text) {
  if (text.size() <= kWidth) return std::string(text);
  return std::string(text.substr(0, character_at(text, kBefore))).append(kCut);
}

std::string marked_word(std::string_view text, std::string_view word) {
  return marked(text, text.substr(std::min(text.find(word), text.size()), word.size()));
}

std::string marked(std::string_view text, std::string_view where) {
  const auto at = std::min(static_cast<std::size_t>(where.data() - text.data()), text.size());
  const std::size_t begin = at > kBefore ? character_at(text, at - kBefore) : 0;
  const std::size_t end = character_at(text, std::min(text.size(), begin + kWidth));
  std::string line(text.substr(begin, end - begin));
  std::ranges::replace_if(line, is_control, ' ');
  const std::string_view front = begin == 0 ? std::string_view() : kCut;
  const std::size_t first = front.size() + columns(text.substr(begin, at - begin));
  const std::size_t n = std::max<std::size_t>(columns(text.substr(at, std::min(where.size(), end - at))), 1);
  std::string out(kIndent);
  out.append(front).append(line).append(end == text.size() ? "" : kCut);
  return out.append("\n").append(kIndent).append(std::string(first, ' ')).append(std::string(n, '^'));
}

}  // namespace eventloom
