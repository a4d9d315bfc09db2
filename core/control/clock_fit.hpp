#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "formats/control_wire.hpp"

namespace eventloom {

/// A request of the master (rank 0), answered with the time on the other rank's clock. All in ns.
struct RoundTrip {
  std::int64_t sent = 0;      ///< master's clock
  std::int64_t remote = 0;    ///< the other rank's clock, read at some time between the two
  std::int64_t received = 0;  ///< master's clock, not before `sent`
};

/// Converts times. Only the small part of the model, (t - t0) * (coef - 1), is computed in floating point: both
/// directions are exact to 1 ns for months around t0.
[[nodiscard]] std::int64_t to_master(const ClockModel& model, std::int64_t t);
[[nodiscard]] std::int64_t to_local(const ClockModel& model, std::int64_t T);

/// Fits a clock to the master's. Round trips come in batches that are short compared with the time between them. Pure
/// arithmetic: no MPI, no clock.
///
/// The remote time was read some time within the round trip, so the middle of the round trip is off by at most half
/// its length (Cristian 1989), whatever delayed it. Delays only lengthen round trips: the shortest ones of each batch
/// form one point (local time, offset, error). The model is the line through the points of the last 64 batches,
/// weighted with 1 / error^2. So a batch of only delayed round trips has a large error and next to no weight.
class ClockFit {
 public:
  /// May be called in any order within a batch. Ignores a round trip that ends before it starts.
  void add(const RoundTrip& trip);
  /// Updates the model. Does nothing without round trips since the last call.
  void end_batch();

  /// The identity before the first batch.
  [[nodiscard]] ClockModel model() const { return model_; }
  /// The precision holds from the last batch to `until` (ns on the master's clock), when the next model is due. Before
  /// the first batch it is infinite.
  ///
  /// It is the residual plus the least value, over the batches, of this sum: half the batch's round trips, its
  /// distance from the line, and the error of the rate from there to `until`. While the clock keeps its rate this is a
  /// bound, whatever the delays. When the rate changes, batches before the newest that reveals it do not count, and
  /// the residual allows for the future.
  [[nodiscard]] ClockQuality quality(std::int64_t until) const;

 private:
  struct Point {
    std::int64_t local;
    std::int64_t offset;  ///< master minus local
    double error;         ///< error of the offset, ns; positive
  };
  struct Line;

  [[nodiscard]] Point summary() const;
  [[nodiscard]] Line line() const;
  /// Distance from the model to a point, ns.
  [[nodiscard]] double distance(const Point& point) const;
  /// How far the model can be off at `at` (ns, master) according to this point alone, if the error of the rate holds;
  /// at the point itself unconditionally.
  [[nodiscard]] double promise(const Point& point, std::int64_t at) const;

  std::vector<RoundTrip> batch_;
  std::deque<Point> points_;
  ClockModel model_;
  double rate_ = 0;
  double rate_error_ = 0;
  double residual_ = 0;
  std::uint64_t round_trips_ = 0;
};

}  // namespace eventloom
