#include "io/lmd/lmd_time.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <charconv>
#include <regex>
#include <string_view>

#include "core/runtime/error.hpp"
#include "io/recorded/event_numbers.hpp"

namespace eventloom {

namespace {

/// High halves of the words after the system's id; the low halves are the time, lowest first.
constexpr std::array<std::uint32_t, 4> kStampTags = {0x03e1, 0x04e1, 0x05e1, 0x06e1};
constexpr std::uint64_t kMaxOffset = 1U << 26;  ///< words in the longest event
constexpr const char* kIdForm = "the hexadecimal digits of control, crate and procid, CCRRPPPP";

template <class Number>
std::optional<Number> parse(std::string_view text, int base) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> read_id(const SourceUri& uri, const char* key, bool hex, const std::string& expected) {
  const auto text = uri.get(key, "");
  if (text.empty()) return std::nullopt;
  const auto id = parse<std::uint32_t>(text, hex || text.starts_with("0x") || text.starts_with("0X") ? 16 : 10);
  if (!id) uri.refuse(std::string(key) + "=" + text + " is not " + expected);
  return id;
}

}  // namespace

LmdTime::LmdTime(const SourceUri& uri, std::uint64_t tick_ps) : scale_(uri, tick_ps), unit_(uri.get("unit", "ns")) {
  const auto time = uri.get("time", "tag");
  if (time == "wr") {
    kind_ = Kind::white_rabbit;
    id_ = read_id(uri, "wr", false, "the id of a White Rabbit system: a number, decimal or 0x...");
  } else if (time.starts_with("word:")) {
    kind_ = Kind::words;
    read_words(uri, time);
    id_ = read_id(uri, "from", true, kIdForm);
  } else if (time != "tag") {
    uri.refuse("time=" + time + " is not known; use tag, wr or word:OFFSET,COUNT");
  }
  bits_ = static_cast<unsigned>(uri.get_count("bits", 32, EventNumbers::kFewestBits, 32));
  if (const auto number = uri.get("number", ""); !number.empty()) read_number(uri, number);
  refuse_misplaced(uri);
}

void LmdTime::refuse_misplaced(const SourceUri& uri) const {
  const auto demand = [&](const char* key, bool valid, const char* what) {
    if (!uri.get(key, "").empty() && !valid) uri.refuse(std::string(key) + "= is valid only " + what);
  };
  demand("wr", kind_ == Kind::white_rabbit, "with time=wr");
  demand("from", kind_ == Kind::words || number_in_data_, "with time=word:OFFSET,COUNT or number=");
  demand("bits", numbered() && !number_in_data_, "where times are the numbers of events' headers");
  demand("number", numbered(), "where times are event numbers");
  if (numbered()) TickScale::refuse_keys(uri);
}

/// word:OFFSET[:LOW-HIGH]
void LmdTime::read_number(const SourceUri& uri, const std::string& text) {
  static const std::regex form("word:([0-9]{1,8})(?::([0-9]{1,2})-([0-9]{1,2}))?");
  std::smatch parts;
  const bool fits = std::regex_match(text, parts, form);
  const auto part = [&](std::size_t i, unsigned otherwise) {
    return fits && parts[i].matched ? static_cast<unsigned>(std::stoul(parts[i])) : otherwise;
  };
  const auto high = part(3, 31);
  offset_ = part(1, 0);
  low_ = part(2, 0);
  if (!fits || offset_ > kMaxOffset || high > 31 || high + 1 < low_ + EventNumbers::kFewestBits) {
    uri.refuse("number=" + text + " is not word:OFFSET or word:OFFSET:LOW-HIGH, with " +
               std::to_string(EventNumbers::kFewestBits) +
               " of the bits 0 to 31 at least, of word OFFSET of the data, counted from 0");
  }
  bits_ = high + 1 - low_;
  number_in_data_ = true;
  id_ = read_id(uri, "from", true, kIdForm);
}

void LmdTime::read_words(const SourceUri& uri, const std::string& text) {
  const auto numbers = std::string_view(text).substr(text.find(':') + 1);
  const auto comma = numbers.find(',');
  const auto offset = parse<std::uint64_t>(numbers.substr(0, comma), 10);
  const auto count = parse<std::uint64_t>(comma == numbers.npos ? "1" : numbers.substr(comma + 1), 10);
  if (!offset || *offset > kMaxOffset || !count || *count < 1 || *count > 2) {
    uri.refuse("time=" + text + " is not word:OFFSET,COUNT with 1 or 2 words of data at word OFFSET, counted from 0");
  }
  offset_ = static_cast<std::size_t>(*offset);
  count_ = static_cast<std::size_t>(*count);
}

std::optional<Tick> LmdTime::of(const LmdEvent& event) const {
  for (const auto& sub : event.subevents) {
    const auto value = kind_ == Kind::white_rabbit ? stamp(sub) : words(sub);
    if (value) return scale_.ticks(*value);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> LmdTime::number_of(const LmdEvent& event) const {
  const auto mask = ~std::uint32_t{0} >> (32 - bits_);
  if (!number_in_data_) return event.number & mask;
  for (const auto& sub : event.subevents) {
    if (const auto word = words(sub)) return static_cast<std::uint32_t>(*word >> low_) & mask;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LmdTime::stamp(const LmdSubevent& sub) const {
  if (sub.data.size() < 4 * (1 + kStampTags.size())) return std::nullopt;
  if (id_ && sub.word(0) != *id_) return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < kStampTags.size(); ++i) {
    const auto word = sub.word(1 + i);
    if (word >> 16 != kStampTags[i]) return std::nullopt;
    time |= std::uint64_t{word & 0xffffU} << (16 * i);
  }
  return time;
}

std::optional<std::uint64_t> LmdTime::words(const LmdSubevent& sub) const {
  if (id_ && sub.id() != *id_) return std::nullopt;
  if (sub.data.size() / 4 < offset_ + count_) return std::nullopt;
  const std::uint64_t low = sub.word(offset_);
  return count_ == 2 ? std::uint64_t{sub.word(offset_ + 1)} << 32 | low : low;
}

std::string LmdTime::description() const {
  switch (kind_) {
    case Kind::white_rabbit:
      return "the first White Rabbit stamp at the start of a subevent" +
             (id_ ? fmt::format(", of system {:#x}", *id_) : std::string()) + ", in " + unit_;
    case Kind::words:
      return fmt::format("{} data words, low word first, at word {} of the first subevent {}that has them, in {}", count_,
                         offset_, subevent(), unit_);
    default: break;
  }
  if (number_in_data_) {
    return fmt::format("the event number in the bits {} to {} of data word {} of the first subevent {}that has "
                       "them, unwrapped",
                       low_, low_ + bits_ - 1, offset_, subevent());
  }
  return bits_ == 32 ? "the event number, unwrapped" : fmt::format("the event number, {} bits, unwrapped", bits_);
}

std::string LmdTime::reason_for_none() const {
  if (kind_ == Kind::white_rabbit) {
    return fmt::format("no subevent begins with a White Rabbit stamp{} of a valid time",
                       id_ ? fmt::format(" of system {:#x} and", *id_) : "");
  }
  const auto words =
      count_ == 2 ? fmt::format("words {} and {}", offset_, offset_ + 1) : fmt::format("word {}", offset_);
  return fmt::format("no subevent {}has data {} with {}", subevent(), words, numbered() ? "its number" : "a valid time");
}

/// Which one it must be, where that is said, and a space.
std::string LmdTime::subevent() const {
  return id_ ? fmt::format("{:08x} (control, crate, procid) ", *id_) : "";
}

}  // namespace eventloom
