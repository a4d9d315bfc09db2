#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// In the time of the data.
constexpr double epochs_per_second(const TimeBase& base) {
  return 1e12 / (static_cast<double>(base.tick_ps) * base.epoch_ticks);
}

/// How a live source's own count of hits relates to the run, so that a resumed run can tell what it missed.
struct PeerPlace {
  std::uint32_t session = 0;  ///< changes when the peer starts anew, and its count with it
  std::int64_t base = 0;      ///< its count less the hits of the run, while nothing is missing
  friend bool operator==(const PeerPlace&, const PeerPlace&) = default;
};

/// What a resumed run knows of a live source.
struct LivePast {
  std::optional<PeerPlace> place;    ///< as it was kept; nothing where the source does not count, or was not heard
  std::uint64_t hits = 0;            ///< in the finished slices
  Epoch end = 0;                     ///< of the last finished slice
  std::uint64_t epochs_missing = 0;  ///< in slices before it that are not finished
};

/// Whether a clock differs so much from this host's that times of the two do not make a latency. `behind_ns`: by which
/// it is behind, delays included, which data may have on their way; they never arrive before they were taken.
constexpr bool is_far_clock(std::int64_t behind_ns) {
  constexpr std::int64_t kMostAhead_ns = 1'000'000'000;
  constexpr std::int64_t kMostBehind_ns = 10'000'000'000;
  return behind_ns < -kMostAhead_ns || behind_ns > kMostBehind_ns;
}
/// For people, of a clock that is far.
std::string clock_remark(std::int64_t behind_ns);

/// The sender of a live stream.
struct LivePeer {
  bool known = false;           ///< header() is final, and first_epoch() is known if it ever will be
  bool connected = false;       ///< connected, or heard, and not ended
  bool joined = false;          ///< it had sent data before the first that were received
  std::int64_t started_ns = 0;  ///< Unix time of tick 0, ns, as it states; 0: unknown
  /// By which its clock is behind this host's, as far as its data tell, delays included; with `started_ns` only.
  std::optional<std::int64_t> clock_behind_ns = {};
  /// Its times are numbers that start again after so many epochs; 0: they do not. What it sends has no place before
  /// begin_at(): its first number is then the one nearest to where the run begins.
  Epoch wraps_after = 0;
};

/// Progress of a live stream.
struct LiveProgress {
  Epoch watermark = 0;       ///< everything that begins before this epoch has been received or given up
  Epoch peer_watermark = 0;  ///< the peer has sent everything that begins before this epoch
  /// One past the last epoch received, including data held back to be put in order or judged.
  Epoch seen_end = 0;
  /// Where the peer claims to be while that is out of step: farther ahead of where it may be than its format allows, or
  /// back in time. Its data are then dropped (out_of_step), and `watermark` and `peer_watermark` stay.
  std::optional<Epoch> aside = {};
  bool listens = false;           ///< receive() takes data; it does not while the stream holds as much as it may
  bool drained = false;           ///< everything received by finish() has been delivered
  std::uint64_t late_passed = 0;  ///< epoch buffers dropped as late because their epochs had been passed
};

/// A source whose data arrive live. No function waits: collect() returns the data received, and may be called only up
/// to an end for which ready() is true or which was passed to give_up().
///
/// Whether the data of an epoch are used or missing is decided once: data that arrive later for epochs that were
/// collected or given up are dropped as late.
class LiveStream : public Source {
 public:
  // Before the run: receive() until the peer is known, then fix_header() and begin_at(), once each.

  [[nodiscard]] virtual LivePeer peer() const = 0;
  /// Fixes header(): a peer that later differs from it is refused. Throws UserError when the recording cannot be
  /// started.
  virtual void fix_header() = 0;
  /// Before begin_at(), in a resumed run: what the peer has sent since then is lost, and becomes damage at the
  /// beginning.
  virtual void resume_after(const LivePast& /*past*/) {}
  /// Before begin_at(): `keep` is called with the peer's place, when it is known and whenever it changes.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that have one keep the function
  virtual void keep_place(std::function<void(const PeerPlace&)> /*keep*/) {}
  /// The run begins with this epoch: earlier hits are not part of it, and not counted by hits_read().
  virtual void begin_at(Epoch epoch) = 0;

  // In every turn.

  /// The stream may be here by now: it is not far from the others, or all others have jumped to where it is. The
  /// greatest number: it is the only one, and may be anywhere ahead.
  virtual void expect(Epoch epoch) = 0;
  /// Takes in the data that have arrived. Returns 0 when there are none.
  virtual std::size_t receive() = 0;
  [[nodiscard]] virtual LiveProgress progress() const = 0;
  /// Whether all epochs before the end of `epochs` have been received or given up. The call also tells the stream which
  /// epochs it must hold together: these are collected next.
  [[nodiscard]] virtual bool ready(EpochRange epochs) = 0;
  /// Gives up the missing data of epochs before `end`. `missing`: they are marked as missing; otherwise, at the end of
  /// a run where no other source has data there, the stream ends here.
  virtual void give_up(Epoch end, bool missing) = 0;
  /// Passes the epochs before `end` that have not been received: no source is known to have data there, so they are
  /// empty.
  virtual void pass(Epoch end) = 0;
  /// Does not wait for more data of epochs before `end`: those received are delivered, also where they are held back
  /// for others, and then these epochs are complete. False until that has happened.
  [[nodiscard]] virtual bool settle(Epoch end) = 0;

  // At the end of the run.

  /// Stops receiving; receive() still delivers the data received so far, then the stream is drained. Never waits.
  virtual void finish() = 0;
  /// The run ends before epoch `end`: hits from there on are not part of it, and not counted by hits_read().
  virtual void end_at(Epoch end) = 0;
  /// The run is over: counts data received and not delivered, for a second at most; finishes a recording.
  virtual void close() = 0;
};

}  // namespace eventloom
