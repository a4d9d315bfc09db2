#include "app/command/safe_text.hpp"

#include <algorithm>
#include <cstdint>

#include "app/command/utf8.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// Whether a character is visible: neither a control character (C0, DEL, C1) nor one that breaks lines or changes the
/// direction of text.
bool is_visible(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  if (code >= 0x200b && code <= 0x200f) return false;
  if (code >= 0x2028 && code <= 0x202e) return false;
  return code != 0x61c && code != 0xfeff && code != 0xfffe && code != 0xffff && (code < 0x2060 || code > 0x206f);
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto character = front_character(text);
    const auto bytes = text.substr(0, character.bytes);
    if (character.valid && is_visible(character.code)) {
      out += bytes;
    } else {
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::string lines_for_terminal(std::string_view text) {
  std::string out;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += for_terminal(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out + for_terminal(text);
}

std::string for_xml(std::string_view text) {
  std::string out;
  for (const char c : for_terminal(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string end_of(std::string_view text, std::size_t most) {
  if (columns_of(text) <= most) return std::string(text);
  std::size_t begin = text.size();
  for (std::size_t columns = 0; columns < most - 3; columns += begins_character(text[begin]) ? 1 : 0) --begin;
  return "..." + std::string(text.substr(begin));
}

std::string beginning_of(std::string_view text, std::size_t most) {
  if (columns_of(text) <= most) return std::string(text);
  std::size_t end = 0;
  for (std::size_t columns = 0; columns < most - 3 || !begins_character(text[end]); ++end) {
    columns += begins_character(text[end]) ? 1 : 0;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace eventloom
