#include "io/hld/hld_options.hpp"

#include <stdexcept>
#include <string>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

void read_numbers(const SourceUri& uri, bool numbered, HldOptions& options) {
  options.number = read_number_place(uri, numbered);
  options.from = read_hex_id(uri, "from", "the id of a subevent in hexadecimal digits");
  if (options.from && !options.number.word) uri.refuse("from= is valid only with number=");
}

/// Id of the subevent that must have the number, followed by a space; empty if from= is not given.
std::string hld_place(const HldOptions& options) { return options.from ? fmt::format("{:#x} ", *options.from) : ""; }

}  // namespace

std::optional<std::uint32_t> HldOptions::number_of(const HldEvent& event) const {
  if (!number.word) return number.of_header(event.number);
  for (const auto& subevent : event.subevents) {
    if (from && subevent.id != *from) continue;
    if (const auto word = subevent.word(number.word->offset)) return number.word->of(*word);
  }
  return std::nullopt;
}

std::string HldOptions::number_text() const {
  if (!number.word) return "the event number";
  return fmt::format("{} of the first subevent {}that has it", number.word->text(), hld_place(*this));
}

std::string HldOptions::reason_for_none() const {
  return fmt::format("no subevent {}has data word {} with its number", hld_place(*this), number.word->offset);
}

HldOptions parse_hld_options(const SourceUri& uri, std::uint64_t tick_ps) {
  const auto time = uri.get("time", "tag");
  const auto tdc = uri.get("tdc", "no");
  if (time != "tag" && time != "tdc") uri.refuse("time=" + time + " is not known; use time=tag or time=tdc");
  if (time == "tdc" && tdc == "no") uri.refuse("time=tdc needs the key tdc");
  if (time == "tdc" && uri.has("bits")) uri.refuse("bits= is valid only where times are event numbers");
  if (time != "tdc" && uri.has("turns")) uri.refuse("turns= counts those of the epoch counter: it needs time=tdc");
  if (uri.get("unit", "tick") != "tick") {
    uri.refuse("omit unit=: event numbers are ticks, and TDC times have a fixed unit");
  }
  HldOptions options;
  read_numbers(uri, time == "tag", options);
  try {
    if (tdc != "no") options.tdcs.emplace(tdc);
    if (time == "tdc") options.clock.emplace(tick_ps, ClockTurns::first_turn_of(uri));
  } catch (const std::invalid_argument& e) {
    uri.refuse(e.what());
  }
  return options;
}

}  // namespace eventloom
