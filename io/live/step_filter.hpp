#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Holds a live stream against where it may be: what lies too far ahead, or behind what has been taken, is out of step.
/// A stream may go on from where it was, however fast, but not jump: see expect().
class StepFilter {
 public:
  /// `reach`: epochs to the next data that are believed; the greatest number: all that lie ahead.
  explicit StepFilter(Epoch reach) : reach_(reach) {}

  /// The run begins with this epoch: the stream is far if it begins more than `reach` ahead of it. All that has been
  /// taken is to be given to take_out() again.
  void begin_at(Epoch epoch, Epoch reach);
  /// The stream may be here by now, and reach from here.
  void expect(Epoch epoch);

  /// Takes out of `batch` what is out of step: in its place stand records of Damage where the stream was last. As long
  /// as the run has not begun, only what lies behind is: nobody knows yet where the others are. But the first buffer is
  /// nothing when the one behind it is far from it: true when what was taken before this batch is to be dropped.
  /// `open`: the first epoch that may still be missing.
  bool take_out(FeedBatch& batch, Epoch open);

  /// Where the stream says it is, while that is out of step.
  [[nodiscard]] std::optional<Epoch> aside() const { return aside_; }
  /// More than one thing has said where the stream is.
  [[nodiscard]] bool is_placed() const { return steps_ > 1; }

 private:
  void count_out(const EpochBufferHeader& header);
  bool take(const EpochBufferHeader& header);
  void note_return(Epoch to);
  void go_on(Epoch to);
  void take_buffers(FeedBatch& batch);
  void confine(FeedBatch& batch) const;
  void add_out(std::vector<Damage>& damage) const;
  void take_complete(FeedBatch& batch);

  Epoch reach_;
  bool begun_ = false;
  bool fresh_ = false;  ///< nothing has been taken since the run began
  Epoch place_ = 0;     ///< what begins before it has been
  Epoch limit_ = 0;     ///< what begins here or behind is far
  Epoch complete_ = 0;
  std::optional<Epoch> aside_;
  std::uint64_t steps_ = 0;
  std::uint64_t hits_out_ = 0;  ///< of this batch
  bool any_out_ = false;        ///< of this batch
  Epoch open_ = 0;              ///< of this batch
  EpochRange away_;             ///< this batch: what is missing before the stream was back
  bool anew_ = false;           ///< this batch: what was before is to be dropped
};

}  // namespace eventloom
