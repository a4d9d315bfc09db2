#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "io/recorded/clock_turns.hpp"
#include "io/recorded/raw_clock.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Converts time stamps, whole numbers of a unit, to ticks. They may come from a counter that turns.
class StampClock {
 public:
  /// Whether the key `time` of a format of events names words or a field of the data: numbers of such a clock.
  static bool makes_times(const SourceUri& uri) { return uri.get("time", "").find_first_of(":@") != std::string::npos; }

  explicit StampClock(TickScale scale, ClockTurns turns = {}) : scale_(std::move(scale)), turns_(std::move(turns)) {}

  /// std::nullopt if the number does not fit in 64 bits of ticks, or the counter does not have it. Stamps must be
  /// passed in their order; the last one may be passed again.
  std::optional<Tick> ticks(std::uint64_t number, std::uint32_t channel = 0) {
    if (!turns_.any()) return scale_.ticks(number);
    const auto extended = turns_.extend(number, channel);
    return extended ? scale_.ticks(*extended) : std::nullopt;
  }
  /// Whether ticks() returned std::nullopt for a number that the counter does not have, and how it is lost then. Throws
  /// UserError, whose line begins with `place`, unless the URI has skip-bad=yes.
  [[nodiscard]] std::optional<std::string> misfit(const std::string& place, std::uint64_t number,
                                                  std::uint32_t channel = 0) {
    if (!turns_.any() || turns_.extend(number, channel)) return std::nullopt;
    return turns_.misfit(place, std::to_string(number), channel);
  }
  [[nodiscard]] ClockTurns& turns() { return turns_; }
  [[nodiscard]] const ClockTurns& turns() const { return turns_; }
  /// The clock whose numbers the stamps are.
  [[nodiscard]] RawClock raw_clock() const { return scale_.raw_clock(0); }

 private:
  TickScale scale_;
  ClockTurns turns_;
};

}  // namespace eventloom
