#include "io/recorded/number_word.hpp"

#include <charconv>
#include <regex>
#include <string_view>

#include "core/runtime/format.hpp"
#include "io/recorded/event_numbers.hpp"

namespace eventloom {

namespace {

/// std::nullopt if the URI lacks the key.
std::optional<NumberWord> read_number_word(const SourceUri& uri) {
  const auto text = uri.get("number", "");
  if (text.empty()) return std::nullopt;
  static const std::regex form("word:([0-9]{1,8})(?::([0-9]{1,2})-([0-9]{1,2}))?");
  std::smatch parts;
  const bool fits = std::regex_match(text, parts, form);
  const auto part = [&](std::size_t i, unsigned otherwise) {
    return fits && parts[i].matched ? static_cast<unsigned>(std::stoul(parts[i])) : otherwise;
  };
  const auto low = part(2, 0);
  const auto high = part(3, 31);
  const NumberWord word{.offset = part(1, 0), .low = low, .bits = high + 1 - low};
  if (!fits || word.offset > kMaxWordOffset || high > 31 || high + 1 < low + EventNumbers::kFewestBits) {
    uri.refuse(
        fmt::format("number={} is not word:OFFSET or word:OFFSET:LOW-HIGH, with {} of the bits 0 to 31 at "
                    "least, of word OFFSET of the data, counted from 0",
                    text, EventNumbers::kFewestBits));
  }
  return word;
}

}  // namespace

std::string NumberWord::text() const {
  return fmt::format("the event number in the bits {} to {} of data word {}", low, low + bits - 1, offset);
}

std::string NumberPlace::key_of_lowest(unsigned n) const {
  return word ? fmt::format("number=word:{}:{}-{}", word->offset, word->low, word->low + n - 1)
              : fmt::format("bits={}", n);
}

NumberPlace read_number_place(const SourceUri& uri, bool numbered) {
  if (!numbered) {
    if (uri.has("number")) uri.refuse("number= is valid only where times are event numbers");
    return {};
  }
  for (const char* key : {"modulus", "turns"}) {
    if (uri.has(key)) uri.refuse(fmt::format("{}= is of counters of time, and times are event numbers here", key));
  }
  NumberPlace place{.word = read_number_word(uri)};
  if (place.word) {
    if (uri.has("bits")) uri.refuse("bits= is valid only where times are the numbers of events' headers");
    place.bits = place.word->bits;
  } else {
    place.bits = static_cast<unsigned>(uri.get_count("bits", 32, EventNumbers::kFewestBits, 32));
  }
  return place;
}

std::optional<std::uint32_t> read_hex_id(const SourceUri& uri, const char* key, const std::string& expected) {
  const auto text = uri.get(key, "");
  if (text.empty()) return std::nullopt;
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    uri.refuse(fmt::format("{}={} is not {}", key, text, expected));
  }
  return id;
}

}  // namespace eventloom
