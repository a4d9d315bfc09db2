#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "formats/ids.hpp"
#include "formats/units.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The events of a recording as LMD events, from its beginning to its end.
class EventPlayer {
 public:
  virtual ~EventPlayer() = default;
  /// Goes to the next event; false at the end. Damage on the way is reported and counted.
  virtual bool next() = 0;
  /// Valid until next(); the caller may change its header.
  [[nodiscard]] virtual LmdEvent& event() = 0;
  /// Whether events have times, rather than numbers alone.
  [[nodiscard]] virtual bool timed() const = 0;
  /// When the event was recorded, ticks of 1 ns; nothing where that is unknown.
  [[nodiscard]] virtual std::optional<Tick> time() const = 0;
  /// In what has been read so far.
  [[nodiscard]] virtual std::uint64_t damaged_places() const = 0;
};

/// The ticks of EventPlayer::time().
inline constexpr std::uint64_t kNanosecondPs = 1000;
/// A time in them, rounded down; nothing when it does not fit.
inline std::optional<Tick> nanoseconds_of(Tick time, std::uint64_t tick_ps) {
  return to_ticks({time, 0}, {tick_ps, 0}, kNanosecondPs, Rounding::down);
}

/// Throws UserError when a key is invalid, or the file cannot be opened or is not of the format.
using OpenPlayer = std::unique_ptr<EventPlayer> (*)(const SourceUri& uri);

/// A recording that can be played.
struct PlayedFile {
  SourceUri uri;
  OpenPlayer open = nullptr;
};

}  // namespace eventloom
