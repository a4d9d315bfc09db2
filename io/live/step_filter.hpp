#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// Compares a live stream's data with its plausible positions: data too far ahead, or before data already taken, are
/// out of step. A stream may advance at any speed, but not jump: see expect().
class StepFilter {
 public:
  /// `reach`: longest accepted distance to the next data, in epochs; the largest Epoch: any distance.
  explicit StepFilter(Epoch reach) : reach_(reach) {}

  /// The run begins with this epoch: a stream that begins more than `reach` after it is out of step. All data taken so
  /// far must be passed to take_out() again.
  void begin_at(Epoch epoch, Epoch reach);
  /// The stream may have advanced to this epoch, and may reach ahead from it.
  void expect(Epoch epoch);

  /// Removes data that are out of step from `batch`, and adds Damage records for them at the stream's last position.
  /// Before the run has begun, only data behind the stream are removed, since the positions of the other sources are
  /// not known yet; but if the second buffer is far from the first, the first is discarded. Returns true if the data
  /// taken before this batch must be dropped. `open`: the first epoch that may still be missing.
  bool take_out(FeedBatch& batch, Epoch open);

  /// The position that the stream claims while it is out of step.
  [[nodiscard]] std::optional<Epoch> aside() const { return aside_; }
  /// Whether the stream's position has been confirmed more than once.
  [[nodiscard]] bool is_placed() const { return steps_ > 1; }

 private:
  void count_out(const EpochBufferHeader& header);
  bool take(const EpochBufferHeader& header);
  void note_return(Epoch to);
  void advance_to(Epoch to);
  void take_buffers(FeedBatch& batch);
  void confine(FeedBatch& batch) const;
  void add_out(std::vector<Damage>& damage) const;
  void take_complete(FeedBatch& batch);

  Epoch reach_;
  bool begun_ = false;
  bool fresh_ = false;  ///< no data have been taken since the run began
  Epoch place_ = 0;     ///< everything that begins before this epoch has been taken
  Epoch limit_ = 0;     ///< data that begin at or after this epoch are out of step
  Epoch complete_ = 0;
  std::optional<Epoch> aside_;
  std::uint64_t steps_ = 0;
  // State of the current batch.
  std::uint64_t hits_out_ = 0;  ///< hits removed
  bool any_out_ = false;        ///< anything was removed
  Epoch open_ = 0;              ///< see take_out()
  EpochRange away_;             ///< stretch without data before the stream returned
  bool restarted_ = false;      ///< earlier data must be dropped
};

}  // namespace eventloom
