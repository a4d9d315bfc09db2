#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "formats/ids.hpp"
#include "formats/units.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Reads the events of a recording from beginning to end as LMD events.
class EventPlayer {
 public:
  virtual ~EventPlayer() = default;
  /// Advances to the next event; returns false at the end. Reports and counts damage in between.
  virtual bool next() = 0;
  /// Valid until next(); the caller may change its header.
  [[nodiscard]] virtual LmdEvent& event() = 0;
  /// Whether events have times, not only numbers.
  [[nodiscard]] virtual bool timed() const = 0;
  /// The time of recording, ticks of 1 ns; std::nullopt if unknown.
  [[nodiscard]] virtual std::optional<Tick> time() const = 0;
  /// Number of damaged places in the data read so far.
  [[nodiscard]] virtual std::uint64_t damaged_places() const = 0;
};

/// The tick length of EventPlayer::time().
inline constexpr std::uint64_t kNanosecondPs = 1000;
/// A time in nanoseconds, rounded down; std::nullopt if it does not fit.
inline std::optional<Tick> nanoseconds_of(Tick time, std::uint64_t tick_ps) {
  return to_ticks({time.value, 0}, {tick_ps, 0}, kNanosecondPs, Rounding::down);
}

/// Throws UserError when a key is invalid, or the file cannot be opened or does not have the format.
using OpenPlayer = std::unique_ptr<EventPlayer> (*)(const SourceUri& uri);

/// A recording that can be played.
struct PlayedFile {
  SourceUri uri;
  OpenPlayer open = nullptr;
};

}  // namespace eventloom
