#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/event_files/event_items.hpp"

namespace eventloom {

/// Run numbers in HLD files count seconds since 2008-01-10T21:20:00Z.
inline constexpr std::chrono::sys_seconds kHldRunZero{std::chrono::seconds(1'200'000'000)};

/// Converts ticks to UTC, if it is known.
struct HldClock {
  std::optional<std::int64_t> tick_0_ns;  ///< Unix time of tick 0; std::nullopt: all events have the time of the run
  std::uint64_t tick_ps = 0;
};

/// Makes HLD events from built events.
///
/// An event whose HLD subevents all belong to one event of one source keeps that event's id and number. Any other event
/// has the id of DABC's event builder, 0x2000 with the first non-zero trigger type (1 without HLD subevents), and its
/// number in the output. Bit 31 of the id is set if it is set in one of the events, or if tags of trigger numbers
/// differ.
class HldEventMaker {
 public:
  explicit HldEventMaker(HldClock clock) : clock_(clock) {}

  /// Sets the run of the events that follow.
  void begin_run(std::uint32_t run);
  /// Number, date and time of the run.
  [[nodiscard]] const HldEventHeader& run() const { return run_; }

  /// Id, number and run of an event. `number`: its number in the output.
  [[nodiscard]] HldEventHeader header(const EventItems& items, std::uint64_t number) const;
  /// Appends an event with its HLD subevents.
  void append(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;
  /// Appends an event with its HLD subevents and the other hits as a further subevent.
  void append_all(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;

 private:
  std::size_t begin(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;

  HldClock clock_;
  HldEventHeader run_;
};

}  // namespace eventloom
