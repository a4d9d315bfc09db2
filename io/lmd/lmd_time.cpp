#include "io/lmd/lmd_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

/// High halves of the words after the system id; the low halves are the time, lowest 16 bits first.
constexpr std::array<std::uint32_t, 4> kStampTags = {0x03e1, 0x04e1, 0x05e1, 0x06e1};
/// Bit of the first word by which a front end marks its stamp as wrong (error_bit in ucesb).
constexpr std::uint32_t kStampError = 1U << 16;
constexpr const char* kIdForm = "the hexadecimal digits of control, crate and procid, CCRRPPPP";

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> read_system(const SourceUri& uri) {
  const auto text = uri.get("wr", "");
  const std::string expected = "the id of a White Rabbit system: a number, decimal or 0x...";
  if (text.starts_with("0x") || text.starts_with("0X")) return read_hex_id(uri, "wr", expected);
  const auto id = parse<std::uint32_t>(text);
  if (!id && !text.empty()) uri.refuse("wr=" + text + " is not " + expected);
  return id;
}

bool keeps_bad_stamps(const SourceUri& uri) {
  const auto text = uri.get("bad-stamps", "drop");
  if (text != "drop" && text != "keep") uri.refuse("bad-stamps=" + text + " is not known; use drop or keep");
  return text == "keep";
}

}  // namespace

LmdTime::LmdTime(const SourceUri& uri, std::uint64_t tick_ps)
    : clock_(TickScale(uri, tick_ps), StampClock::makes_times(uri) ? ClockTurns(uri) : ClockTurns()),
      unit_(uri.get("unit", "ns")) {
  const auto time = uri.get("time", "tag");
  if (time == "wr") {
    kind_ = Kind::white_rabbit;
    id_ = read_system(uri);
    keeps_marked_ = keeps_bad_stamps(uri);
  } else if (time.starts_with("word:")) {
    kind_ = Kind::words;
    read_words(uri, time);
    id_ = read_hex_id(uri, "from", kIdForm);
  } else if (time != "tag") {
    uri.refuse("time=" + time + " is not known; use tag, wr or word:OFFSET,COUNT");
  }
  number_ = read_number_place(uri, numbered());
  if (number_.word) id_ = read_hex_id(uri, "from", kIdForm);
  refuse_misplaced(uri);
}

void LmdTime::refuse_misplaced(const SourceUri& uri) const {
  const auto demand = [&](const char* key, bool valid, const char* what) {
    if (!uri.get(key, "").empty() && !valid) uri.refuse(std::string(key) + "= is valid only " + what);
  };
  demand("wr", kind_ == Kind::white_rabbit, "with time=wr");
  demand("bad-stamps", kind_ == Kind::white_rabbit, "with time=wr");
  for (const char* key : {"bits", "modulus", "turns"}) {
    demand(key, kind_ != Kind::white_rabbit, "with time=tag or time=word:OFFSET,COUNT");
  }
  demand("from", kind_ == Kind::words || number_.word.has_value(), "with time=word:OFFSET,COUNT or number=");
  if (numbered()) TickScale::refuse_keys(uri);
}

void LmdTime::read_words(const SourceUri& uri, const std::string& text) {
  const auto numbers = std::string_view(text).substr(text.find(':') + 1);
  const auto comma = numbers.find(',');
  const auto offset = parse<std::uint64_t>(numbers.substr(0, comma));
  const auto count = parse<std::uint64_t>(comma == numbers.npos ? "1" : numbers.substr(comma + 1));
  if (!offset || *offset > kMaxWordOffset || !count || *count < 1 || *count > 2) {
    uri.refuse("time=" + text + " is not word:OFFSET,COUNT with 1 or 2 words of data at word OFFSET, counted from 0");
  }
  offset_ = static_cast<std::size_t>(*offset);
  count_ = static_cast<std::size_t>(*count);
}

/// The stamp in a subevent.
std::optional<std::uint64_t> LmdTime::number_in(const LmdSubevent& sub) const {
  return kind_ == Kind::white_rabbit ? stamp(sub) : words(sub, offset_, count_);
}

DropCause LmdTime::cause_for_none(const LmdEvent& event, const std::string& place) {
  for (const auto& sub : event.subevents) {
    if (const auto value = number_in(sub))
      return clock_.misfit(place, *value) ? DropCause::corrupt : DropCause::untimed;
  }
  return DropCause::untimed;
}

std::optional<Tick> LmdTime::of(const LmdEvent& event) {
  for (const auto& sub : event.subevents) {
    const auto value = number_in(sub);
    if (!value) continue;
    const bool marked = kind_ == Kind::white_rabbit && (sub.word(0) & kStampError) != 0;
    return marked && !keeps_marked_ ? std::nullopt : clock_.ticks(*value);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> LmdTime::number_of(const LmdEvent& event) const {
  if (!number_.word) return number_.of_header(event.number);
  for (const auto& sub : event.subevents) {
    if (const auto word = words(sub, number_.word->offset, 1))
      return number_.word->of(static_cast<std::uint32_t>(*word));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LmdTime::stamp(const LmdSubevent& sub) const {
  if (sub.data.size() < 4 * (1 + kStampTags.size())) return std::nullopt;
  if (id_ && (sub.word(0) & ~kStampError) != *id_) return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < kStampTags.size(); ++i) {
    const auto word = sub.word(1 + i);
    if (word >> 16 != kStampTags[i]) return std::nullopt;
    time |= std::uint64_t{word & 0xffffU} << (16 * i);
  }
  return time;
}

std::optional<std::uint64_t> LmdTime::words(const LmdSubevent& sub, std::size_t offset, std::size_t count) const {
  if (id_ && sub.id() != *id_) return std::nullopt;
  if (sub.data.size() / 4 < offset + count) return std::nullopt;
  const std::uint64_t low = sub.word(offset);
  return count == 2 ? std::uint64_t{sub.word(offset + 1)} << 32 | low : low;
}

std::string LmdTime::description() const {
  switch (kind_) {
    case Kind::white_rabbit:
      return "the first White Rabbit stamp at the start of a subevent" +
             (id_ ? fmt::format(", of system {:#x}", *id_) : std::string()) + ", in " + unit_;
    case Kind::words:
      return fmt::format("{} data words, low word first, at word {} of the first subevent {}that has them, in {}",
                         count_, offset_, subevent(), unit_);
    default: break;
  }
  if (number_.word) {
    return fmt::format("{} of the first subevent {}that has them, unwrapped", number_.word->text(), subevent());
  }
  return bits() == 32 ? "the event number, unwrapped" : fmt::format("the event number, {} bits, unwrapped", bits());
}

/// Whether the first stamp of the event is marked as wrong.
bool LmdTime::is_marked(const LmdEvent& event) const {
  const auto first = std::ranges::find_if(event.subevents, [this](const auto& sub) { return stamp(sub).has_value(); });
  return first != event.subevents.end() && (first->word(0) & kStampError) != 0;
}

std::string LmdTime::reason_for_none(const LmdEvent& event) const {
  if (kind_ == Kind::white_rabbit && !keeps_marked_ && is_marked(event)) {
    return "its White Rabbit stamp is marked as wrong by its front end (error bit, bit 16 of the first word); "
           "bad-stamps=keep uses such stamps";
  }
  if (kind_ == Kind::white_rabbit) {
    return fmt::format("no subevent begins with a White Rabbit stamp{} of a valid time",
                       id_ ? fmt::format(" of system {:#x} and", *id_) : "");
  }
  if (number_.word) {
    return fmt::format("no subevent {}has data word {} with its number", subevent(), number_.word->offset);
  }
  const auto words =
      count_ == 2 ? fmt::format("words {} and {}", offset_, offset_ + 1) : fmt::format("word {}", offset_);
  return fmt::format("no subevent {}has data {} with a valid time", subevent(), words);
}

/// Description of the required subevent, followed by a space; empty if any subevent will do.
std::string LmdTime::subevent() const { return id_ ? fmt::format("{:08x} (control, crate, procid) ", *id_) : ""; }

}  // namespace eventloom
