#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Compares a live stream with where it may be: data too far ahead, or before those taken, are out of step. A stream
/// may continue from where it was, however fast, but not jump: see expect().
class StepFilter {
 public:
  /// `reach`: epochs to the next data that are accepted; the greatest number: any ahead.
  explicit StepFilter(Epoch reach) : reach_(reach) {}

  /// The run begins with this epoch: the stream is far if it begins more than `reach` ahead of it. Everything taken
  /// must be passed to take_out() again.
  void begin_at(Epoch epoch, Epoch reach);
  /// The stream may be here by now, and reach from here.
  void expect(Epoch epoch);

  /// Takes out of `batch` the data that are out of step: records of Damage replace them where the stream was last.
  /// Before the run has begun, only data behind the stream are taken out: the positions of the others are not known
  /// yet. But the first buffer is discarded when the next one is far from it: true when the data taken before this
  /// batch must be dropped. `open`: the first epoch that may still be missing.
  bool take_out(FeedBatch& batch, Epoch open);

  /// Where the stream claims to be while that is out of step.
  [[nodiscard]] std::optional<Epoch> aside() const { return aside_; }
  /// The stream's position has been confirmed more than once.
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
  Epoch place_ = 0;     ///< everything that begins before it has been taken
  Epoch limit_ = 0;     ///< data that begin here or after are far
  Epoch complete_ = 0;
  std::optional<Epoch> aside_;
  std::uint64_t steps_ = 0;
  std::uint64_t hits_out_ = 0;  ///< of this batch
  bool any_out_ = false;        ///< of this batch
  Epoch open_ = 0;              ///< of this batch
  EpochRange away_;             ///< this batch: what is missing before the stream returned
  bool anew_ = false;           ///< this batch: earlier data are to be dropped
};

}  // namespace eventloom
