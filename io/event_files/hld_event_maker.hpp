#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/event_files/event_items.hpp"

namespace eventloom {

/// Numbers of runs in HLD files count seconds from here on: 2008-01-10T21:20:00Z.
inline constexpr std::chrono::sys_seconds kHldRunZero{std::chrono::seconds(1'200'000'000)};

/// UTC of ticks, as far as it is known.
struct HldClock {
  std::optional<std::int64_t> tick_0_ns;  ///< Unix time of tick 0; nothing: all events have the time of the run
  std::uint64_t tick_ps = 0;
};

/// Makes HLD events of built events.
///
/// An event whose HLD subevents are all of one event of one source keeps that event's id and number. Any other has the
/// id of DABC's event builder, 0x2000 with the first trigger type that is not 0 (1 without HLD subevents), and its
/// number in the output; bit 31 of the id where one of the events has it, or tags of trigger numbers differ.
class HldEventMaker {
 public:
  explicit HldEventMaker(HldClock clock) : clock_(clock) {}

  /// The run of the events that follow.
  void begin_run(std::uint32_t run);
  /// Number, date and time of the run.
  [[nodiscard]] const HldEventHeader& run() const { return run_; }

  /// Id, number and run of an event, the `number`-th of the output.
  [[nodiscard]] HldEventHeader header(const EventItems& items, std::uint64_t number) const;
  /// Appends it with its HLD subevents.
  void append(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;
  /// Likewise, and the other hits as a subevent.
  void append_all(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;

 private:
  std::size_t begin(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const;

  HldClock clock_;
  HldEventHeader run_;
};

}  // namespace eventloom
