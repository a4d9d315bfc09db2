#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "core/dataflow/live_positions.hpp"
#include "core/dataflow/source.hpp"

namespace eventloom {

/// Epochs per second of data time.
constexpr double epochs_per_second(const TimeBase& base) {
  return 1e12 / (static_cast<double>(base.tick_ps) * base.epoch_ticks);
}

/// Relates a live source's own numbers to the run, so that a resumed run can determine what it missed.
struct PeerPlace {
  std::uint32_t session = 0;       ///< changes when the peer restarts, and its count with it
  std::int64_t base = 0;           ///< its count minus the hits of the run, while none are missing
  std::optional<Tick> first = {};  ///< its first event number in the run; not set where it has none
  bool unknown = false;            ///< an interruption has lost an unknown amount of its data
  std::optional<Tick> next = {};   ///< the event number after its last one, if the run was stopped
  Epoch end = 0;                   ///< the end of the run then, at or behind `next`
  friend bool operator==(const PeerPlace&, const PeerPlace&) = default;
};

/// Knowledge of a resumed run about a live source.
struct LivePast {
  std::optional<PeerPlace> place;  ///< kept by the earlier run; std::nullopt: nothing to keep, or not heard
  std::uint64_t hits = 0;          ///< hits in the finished slices
  Epoch end = 0;                   ///< end of the last finished slice
  Epoch epochs_missing = 0;        ///< epochs in earlier slices that are not finished
  bool none_finished = false;      ///< no slice is finished: `end` and `epochs_missing` mean nothing
};

/// Beginning of a run for one of its live sources.
struct LiveBegin {
  /// First epoch of the run: earlier hits are not part of it, and hits_read() does not count them.
  Epoch epoch = 0;
  /// name() from now on; empty: it stays as it is.
  std::string name = {};
  /// A resumed run: data that the peer has sent since then are lost, and become damage at the beginning.
  std::optional<LivePast> past = {};
  /// Receives the peer's place once it is known, and whenever it changes; may be empty.
  std::function<void(const PeerPlace&)> keep = {};
};

/// Whether a clock is too far from this host's for time differences to be latencies. `behind_ns`: how far it is behind,
/// including delays. Data may be delayed in transit, but never arrive before they were taken.
constexpr bool is_far_clock(std::int64_t behind_ns) {
  constexpr std::int64_t kMostAhead_ns = 1'000'000'000;
  constexpr std::int64_t kMostBehind_ns = 10'000'000'000;
  return behind_ns < -kMostAhead_ns || behind_ns > kMostBehind_ns;
}
/// Message to the user about a clock that is far off.
std::string clock_remark(std::int64_t behind_ns);

/// The sender of a live stream.
struct LivePeer {
  bool known = false;           ///< header() is final, and first_epoch() is known if it ever will be
  bool connected = false;       ///< connected, or heard from, and not ended
  bool joined = false;          ///< it had sent data before the first that were received
  std::int64_t started_ns = 0;  ///< Unix time of tick 0, ns, as stated by the peer; 0: unknown
  /// How far its clock is behind this host's, including delays, as its data indicate; only with `started_ns`.
  std::optional<std::int64_t> clock_behind_ns = {};
  /// Until the run begins: how far it had counted when it was first heard, if it counts.
  std::optional<PeerPlace> place = {};
  /// Its times are numbers that wrap after this many epochs; 0: they do not. Its data have no position before
  /// begin(), which gives the first number the position nearest to the start of the run.
  Epoch wraps_after = 0;
};

/// Progress of a live stream.
struct LiveProgress {
  Epoch complete = 0;  ///< see LivePositions
  Epoch received = 0;  ///< likewise
  /// One past the last epoch received, including data held back for ordering or validation.
  Epoch seen_end = 0;
  /// Position claimed by a peer that is out of step: farther ahead than its format allows, or back in time. Its data
  /// are then dropped (out_of_step), and `complete` and `received` stay.
  std::optional<Epoch> aside = {};
  /// Much of the stream's memory is freed by release_before() of this epoch or a later one; the maximum value: by none.
  Epoch crowded_before = std::numeric_limits<Epoch>::max();
  bool listens = false;           ///< receive() takes data; false while the stream is full
  bool held_up = false;           ///< the peer has said that it has data which cannot come at present
  bool drained = false;           ///< everything received by finish() has been delivered
  std::uint64_t late_passed = 0;  ///< epoch buffers dropped as late because their epochs had been passed
};

/// A source whose data arrive live. No function blocks. collect() returns the data received, and may be called only
/// up to an end for which request() or advance() has returned true.
///
/// Whether the data of an epoch are used or missing is decided once: data that arrive later for epochs that were
/// collected, or passed by advance(), are dropped as late.
class LiveStream : public Source {
 public:
  // Before the run: receive() until the peer is known, then fix_header() and begin(), once each.

  [[nodiscard]] virtual LivePeer peer() const = 0;
  /// Fixes header(): a peer that later differs from it is rejected. Throws UserError if the recording cannot be
  /// started.
  virtual void fix_header() = 0;
  virtual void begin(LiveBegin begin) = 0;

  // Every turn.

  /// The stream may have reached this epoch: it is near the others, or most have jumped to where it is. The maximum
  /// value: it is the only stream, and may be anywhere ahead.
  virtual void expect(Epoch epoch) = 0;
  /// Takes in the data that have arrived. Returns 0 if there are none.
  virtual std::size_t receive() = 0;
  [[nodiscard]] virtual LiveProgress progress() const = 0;
  /// Requests `epochs`, which are collected next and must be held together until then. Returns whether all epochs
  /// before their end are complete.
  [[nodiscard]] virtual bool request(EpochRange epochs) = 0;
  /// Moves the stream on to epoch `to`, for a reason other than data: see Advance. Returns whether it is there: a
  /// stream that is settled first delivers what it has held back for others.
  virtual bool advance(Epoch to, Advance how) = 0;

  // At the end of the run.

  /// Stops receiving; receive() still delivers the data received so far, then the stream is drained. `end`: the run
  /// ends before this epoch, so that later hits are not part of it, and hits_read() does not count them.
  virtual void finish(std::optional<Epoch> end) = 0;
  /// The run is over: counts data received but not delivered, for at most a second; finishes a recording.
  virtual void close() = 0;
};

}  // namespace eventloom
