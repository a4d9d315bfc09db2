#include "app/run/wanted_stretch.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "app/command/options.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/runtime/error.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

bool is_utc(const std::string& text) { return text.find(':') != std::string::npos; }

/// The first tick not before a time in UTC.
Tick tick_of_utc(std::int64_t unix_ns, const RunClock& clock) {
  if (clock.time_of_tick_0->empty()) {
    throw std::invalid_argument("no source states the time of tick 0: add --time-origin, or give a length of time");
  }
  __extension__ using Wide = __int128;
  constexpr Wide kPsPerNs = 1000;
  const Wide ps = (Wide{unix_ns} - parse_unix_ns(*clock.time_of_tick_0)) * kPsPerNs;
  if (ps <= 0) return 0;
  const Wide tick_ps = clock.base.tick_ps;
  const Wide ticks = (ps + tick_ps - 1) / tick_ps;
  return Tick(static_cast<std::uint64_t>(std::min<Wide>(ticks, std::numeric_limits<std::uint64_t>::max())));
}

/// Returns std::nullopt for a time in UTC before the sources are open.
std::optional<Tick> bound_in(const std::string& text, const RunClock& clock) {
  if (!is_utc(text)) return parse_length(text, clock.ticks());
  if (clock.numbered) throw std::invalid_argument("the times of this run are event numbers");
  const auto unix_ns = parse_unix_ns(text);
  return clock.time_of_tick_0 ? std::optional(tick_of_utc(unix_ns, clock)) : std::nullopt;
}

}  // namespace

TickRange wanted_stretch(const std::string& from, const std::string& to, const RunClock& clock) {
  auto stretch = kAllTime;
  const auto bound = [&](const char* option, const std::string& text, Tick& to_set) {
    if (!text.empty()) to_set = parsed(option, [&] { return bound_in(text, clock); }).value_or(to_set);
  };
  bound("from", from, stretch.begin);
  bound("to", to, stretch.end);
  // Before the sources are open, ticks cannot be compared with times that have a unit.
  const bool comparable = clock.time_of_tick_0.has_value() || has_unit_of_time(from) == has_unit_of_time(to);
  if (stretch.begin < stretch.end || !comparable) return stretch;
  throw UserError("--from " + from + " is not before --to " + to + ": the stretch of time between them is empty");
}

}  // namespace eventloom
