#pragma once

#include <cstdint>
#include <limits>

#include "formats/geometry.hpp"

namespace eventloom {

/// Life of a live source in a run; it only moves on. Only an ended source has an end.
enum class LiveStage : std::uint8_t {
  open,     ///< its peer may send more
  ending,   ///< the run takes no more: what was received by then is still delivered
  drained,  ///< all of that has been delivered, and the run decides where the source ends
  ended,    ///< its peer or the run has ended it: nothing is awaited
};

/// Reasons why a live source's positions move.
enum class Advance : std::uint8_t {
  received,  ///< its peer has sent everything before the position
  missing,   ///< it is given up there: what it has not sent is missing
  empty,     ///< it is passed there: no source is known to have data, so what it has not sent is empty
  settled,   ///< it is not waited for there: what was received is all
  ended,     ///< it ends there, as no other source of a run that ends has data there
  released,  ///< the output of the run has everything before the position, on disk: its peer need not keep it
};

/// How far a live source has come. No position moves back while the run lasts, and received <= complete.
class LivePositions {
 public:
  /// The peer has sent everything that begins before this epoch.
  [[nodiscard]] Epoch received() const { return received_; }
  /// Data that begin before this epoch are not awaited: they were received, or decided to be missing or empty.
  [[nodiscard]] Epoch complete() const { return complete_; }
  /// Data that begin before this epoch are late: whether they are used or missing is decided.
  [[nodiscard]] Epoch closed() const { return closed_; }
  /// Data before this epoch are on disk, in the output of the run.
  [[nodiscard]] Epoch released() const { return released_; }
  /// One past the last epoch of the data that are used.
  [[nodiscard]] Epoch taken() const { return taken_; }
  /// First epoch of which nothing is known: what lies before it was received, or is decided.
  [[nodiscard]] Epoch unknown() const;
  /// Whether the latest contiguous stretch of empty epochs contains this one.
  [[nodiscard]] bool was_passed(Epoch epoch) const { return passed_.contains(epoch); }

  [[nodiscard]] LiveStage stage() const { return stage_; }
  /// Whether no more data are delivered to the run.
  [[nodiscard]] bool is_drained() const { return stage_ >= LiveStage::drained; }
  [[nodiscard]] bool begun() const { return begun_; }
  /// The epochs of the run: all, until begin_run() and end_run().
  [[nodiscard]] EpochRange run() const { return run_; }

  /// Everything before `to` is complete, or released, for the reason `how`. A position already passed does not move.
  void advance(Epoch to, Advance how);
  /// Data used end before this epoch.
  void take(Epoch end) { taken_ = end; }
  /// Everything before `epoch` is decided.
  void close_before(Epoch epoch);

  /// The run begins with `epoch`. What was received so far must be taken again.
  void begin_run(Epoch epoch);
  void end_run(Epoch epoch) { run_.end = epoch; }
  /// The data received so far are dropped, or taken again.
  void restart() { received_ = complete_ = taken_ = 0; }
  /// The run takes no more: an open source is ending.
  void finish();
  /// All data have been delivered: an open source has ended, and an ending one is drained.
  void drain();

 private:
  Epoch received_ = 0;
  Epoch complete_ = 0;
  Epoch closed_ = 0;
  Epoch released_ = 0;
  Epoch taken_ = 0;
  EpochRange passed_;
  EpochRange run_{0, std::numeric_limits<Epoch>::max()};
  bool begun_ = false;
  LiveStage stage_ = LiveStage::open;
};

}  // namespace eventloom
