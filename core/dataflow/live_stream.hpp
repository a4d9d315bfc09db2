#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Of the data's time.
constexpr double epochs_per_second(const TimeBase& base) {
  return 1e12 / (static_cast<double>(base.tick_ps) * base.epoch_ticks);
}

/// Who sends a live stream.
struct LivePeer {
  bool known = false;           ///< header() will not change any more, and first_epoch() is known if it ever will be
  bool connected = false;       ///< it is there: connected, or heard of, and has not ended
  bool joined = false;          ///< it had sent before what was heard of it first
  std::int64_t started_ns = 0;  ///< Unix time of tick 0, ns, as it says; 0: it does not
};

/// How far a live stream is.
struct LiveProgress {
  Epoch reached = 0;   ///< all that begins before this epoch has come, or has been given up
  Epoch heard_of = 0;  ///< how far the peer itself has got
  /// One past the last epoch of all that has come, what is still held back to be put in order or judged included.
  Epoch seen_end = 0;
  /// Where the peer says it is while that is out of step: farther ahead of where it may be than its format believes, or
  /// back in time. What it sends meanwhile is left out (out_of_step), and `reached` and `heard_of` stay.
  std::optional<Epoch> aside = {};
  bool listens = false;           ///< receive() takes in what comes; it does not while as much is held as may be
  bool drained = false;           ///< all that had come at finish() has been handed over
  std::uint64_t late_passed = 0;  ///< epoch buffers that came for epochs that were passed, and were dropped as late
};

/// A source whose data come when they come. Nothing here waits: collect() gives what is there, and is asked only
/// for epochs before an end for which ready() is true, or which have been given up.
///
/// What is decided of an epoch, that its data are used or that they are missing, is decided once: whatever comes
/// later for epochs that were collected or given up is dropped as late.
class LiveStream : public Source {
 public:
  // Before the run: receive() until the peer is known, then settle() and begin_at(), once each.

  [[nodiscard]] virtual LivePeer peer() const = 0;
  /// header() is settled: a peer that says otherwise from here on is refused. Throws UserError when the
  /// recording cannot be begun.
  virtual void settle() = 0;
  /// The run begins with this epoch: hits before it are not part of it, and not among hits_read().
  virtual void begin_at(Epoch epoch) = 0;

  // In every turn.

  /// The stream may have got here by now: it is not far from the others, or all others have jumped to where it is. The
  /// greatest number: it is the only one, and may be anywhere ahead.
  virtual void expect(Epoch epoch) = 0;
  /// Takes in what has come. Returns 0 when nothing has.
  virtual std::size_t receive() = 0;
  [[nodiscard]] virtual LiveProgress progress() const = 0;
  /// Whether all epochs before the end of `epochs` are there, or given up. Asking tells the stream what it is waited
  /// for: these epochs are to be collected together.
  [[nodiscard]] virtual bool ready(EpochRange epochs) = 0;
  /// What has not come of the epochs before `end` is waited for no longer. `missing`: it is marked as missing;
  /// otherwise, at the end of a run where nobody else has data there, the stream ends here.
  virtual void give_up(Epoch end, bool missing) = 0;
  /// Nobody has anything for the epochs before `end` that have not come, as far as is known: they are empty.
  virtual void pass(Epoch end) = 0;

  // At the end of the run.

  /// Nothing more is taken in from outside; receive() still hands over what has come, then the stream is drained.
  /// Never waits.
  virtual void finish() = 0;
  /// The run ends before epoch `end`: hits from there on are not part of it, and not among hits_read().
  virtual void end_at(Epoch end) = 0;
  /// The run is over: what has come and was not handed over is counted, for a second at most; a recording is finished.
  virtual void close() = 0;
};

}  // namespace eventloom
