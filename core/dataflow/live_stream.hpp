#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Epochs per second of data time.
constexpr double epochs_per_second(const TimeBase& base) {
  return 1e12 / (static_cast<double>(base.tick_ps) * base.epoch_ticks);
}

/// Relates a live source's own count of hits to the run, so that a resumed run can determine what it missed.
struct PeerPlace {
  std::uint32_t session = 0;  ///< changes when the peer restarts, and its count with it
  std::int64_t base = 0;      ///< its count minus the hits of the run, while none are missing
  friend bool operator==(const PeerPlace&, const PeerPlace&) = default;
};

/// Knowledge of a resumed run about a live source.
struct LivePast {
  std::optional<PeerPlace> place;  ///< as kept by the earlier run; std::nullopt: not counted, or not heard
  std::uint64_t hits = 0;          ///< hits in the finished slices
  Epoch end = 0;                   ///< end of the last finished slice
  Epoch epochs_missing = 0;        ///< epochs in earlier slices that are not finished
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
  /// Its times are numbers that wrap after this many epochs; 0: they do not. Its data have no position before
  /// begin_at(), which gives the first number the position nearest to the start of the run.
  Epoch wraps_after = 0;
};

/// Progress of a live stream.
struct LiveProgress {
  Epoch watermark = 0;       ///< everything that begins before this epoch has been received or given up
  Epoch peer_watermark = 0;  ///< the peer has sent everything that begins before this epoch
  /// One past the last epoch received, including data held back for ordering or validation.
  Epoch seen_end = 0;
  /// Position claimed by a peer that is out of step: farther ahead than its format allows, or back in time. Its data
  /// are then dropped (out_of_step), and `watermark` and `peer_watermark` stay.
  std::optional<Epoch> aside = {};
  bool listens = false;           ///< receive() takes data; false while the stream is full
  bool drained = false;           ///< everything received by finish() has been delivered
  std::uint64_t late_passed = 0;  ///< epoch buffers dropped as late because their epochs had been passed
};

/// A source whose data arrive live. No function blocks. collect() returns the data received, and may be called only
/// up to an end for which request() has returned true or which was passed to give_up().
///
/// Whether the data of an epoch are used or missing is decided once: data that arrive later for epochs that were
/// collected or given up are dropped as late.
class LiveStream : public Source {
 public:
  // Before the run: receive() until the peer is known, then fix_header() and begin_at(), once each.

  [[nodiscard]] virtual LivePeer peer() const = 0;
  /// Fixes header(): a peer that later differs from it is rejected. Throws UserError if the recording cannot be
  /// started.
  virtual void fix_header() = 0;
  /// Sets name(), for messages.
  // Overriders move it. NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void show_as(std::string /*name*/) {}
  /// Call before begin_at() in a resumed run: data that the peer has sent since then are lost, and become damage at the
  /// beginning.
  virtual void resume_after(const LivePast& /*past*/) {}
  /// Call before begin_at(): `keep` receives the peer's place once it is known, and whenever it changes.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that have one keep the function
  virtual void keep_place(std::function<void(const PeerPlace&)> /*keep*/) {}
  /// The run begins with this epoch: earlier hits are not part of it, and hits_read() does not count them.
  virtual void begin_at(Epoch epoch) = 0;

  // Every turn.

  /// The stream may have reached this epoch: it is near the others, or most have jumped to where it is. The maximum
  /// value: it is the only stream, and may be anywhere ahead.
  virtual void expect(Epoch epoch) = 0;
  /// Takes in the data that have arrived. Returns 0 if there are none.
  virtual std::size_t receive() = 0;
  [[nodiscard]] virtual LiveProgress progress() const = 0;
  /// Whether data that release_before(`epoch`) would free take up much of the stream's memory.
  [[nodiscard]] virtual bool is_crowded_before(Epoch /*epoch*/) const { return false; }
  /// Requests `epochs`, which are collected next and must be held together until then. Returns whether all epochs
  /// before their end have been received or given up.
  [[nodiscard]] virtual bool request(EpochRange epochs) = 0;
  /// Gives up the missing data of epochs before `end`. `missing`: they are marked as missing; otherwise, at the end of
  /// a run in which no other source has data there, the stream ends here.
  virtual void give_up(Epoch end, bool missing) = 0;
  /// Passes the epochs before `end` that have not been received: no source is known to have data there, so they are
  /// empty.
  virtual void pass(Epoch end) = 0;
  /// Stops waiting for data of epochs before `end`: those received are delivered, even if held back for others, and
  /// these epochs are then complete. Returns false until that has happened.
  [[nodiscard]] virtual bool settle(Epoch end) = 0;

  /// Data before this epoch are on disk, in the output of the run: the source need not keep them.
  virtual void safe_before(Epoch /*epoch*/) {}

  // At the end of the run.

  /// Stops receiving; receive() still delivers the data received so far, then the stream is drained. Never blocks.
  virtual void finish() = 0;
  /// The run ends before epoch `end`: later hits are not part of it, and hits_read() does not count them.
  virtual void end_at(Epoch end) = 0;
  /// The run is over: counts data received but not delivered, for at most a second; finishes a recording.
  virtual void close() = 0;
};

}  // namespace eventloom
