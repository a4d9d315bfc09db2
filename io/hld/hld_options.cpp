#include "io/hld/hld_options.hpp"

#include <stdexcept>
#include <string>

#include "core/runtime/error.hpp"
#include "io/recorded/event_numbers.hpp"

namespace eventloom {

HldOptions parse_hld_options(const SourceUri& uri, std::uint64_t tick_ps) {
  const auto time = uri.get("time", "tag");
  const auto tdc = uri.get("tdc", "no");
  if (time != "tag" && time != "tdc") uri.refuse("time=" + time + " is not known; use time=tag or time=tdc");
  if (time == "tdc" && tdc == "no") uri.refuse("time=tdc needs the key tdc");
  if (uri.get("unit", "tick") != "tick") {
    uri.refuse("omit unit=: event numbers are ticks, and TDC times have a fixed unit");
  }
  if (time != "tag" && uri.has("bits")) uri.refuse("bits= is valid only where times are event numbers");
  HldOptions options;
  options.bits = static_cast<unsigned>(uri.get_count("bits", 32, EventNumbers::kFewestBits, 32));
  try {
    if (tdc != "no") options.tdcs.emplace(tdc);
    if (time == "tdc") options.clock.emplace(tick_ps);
  } catch (const std::invalid_argument& e) {
    uri.refuse(e.what());
  }
  return options;
}

}  // namespace eventloom
