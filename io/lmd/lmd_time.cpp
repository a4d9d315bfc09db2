#include "io/lmd/lmd_time.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <charconv>
#include <string_view>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// High halves of the words after the system's id; the low halves are the time, lowest first.
constexpr std::array<std::uint32_t, 4> kStampTags = {0x03e1, 0x04e1, 0x05e1, 0x06e1};
constexpr std::uint64_t kMaxOffset = 1U << 26;  ///< words in the longest event

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
    id_ = read_id(uri, "from", true, "the hexadecimal digits of control, crate and procid, CCRRPPPP");
  } else if (time != "tag") {
    uri.refuse("time=" + time + " is not known; use tag, wr or word:OFFSET,COUNT");
  }
  const auto demand = [&](const char* key, Kind kind, const char* what) {
    if (!uri.get(key, "").empty() && kind_ != kind) uri.refuse(std::string(key) + "= is valid only with " + what);
  };
  demand("wr", Kind::white_rabbit, "time=wr");
  demand("from", Kind::words, "time=word:OFFSET,COUNT");
  if (!numbered()) return;
  for (const char* key : {"unit", "round"}) {
    if (!uri.get(key, "").empty()) uri.refuse(std::string(key) + "= is not valid where times are event numbers");
  }
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
      return fmt::format("{} data words, low word first, at word {} of the first subevent {}, in {}", count_, offset_,
                         id_ ? fmt::format("{:08x} (control, crate, procid) that has them", *id_) : "that has them",
                         unit_);
    default: return "the event number, unwrapped";
  }
}

}  // namespace eventloom
