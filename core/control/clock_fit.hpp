#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "formats/control_wire.hpp"

namespace eventloom {

/// A question of the master (rank 0) answered with the time of the other's clock. All ns.
struct RoundTrip {
  std::int64_t sent = 0;      ///< master's clock
  std::int64_t remote = 0;    ///< the other's clock, read at some moment between the two
  std::int64_t received = 0;  ///< master's clock, not before `sent`
};

/// Only the small part of the model, (t - t0) * (coef - 1), goes through floating point: both ways are right to 1 ns
/// for months around t0.
[[nodiscard]] std::int64_t to_master(const ClockModel& model, std::int64_t t);
[[nodiscard]] std::int64_t to_local(const ClockModel& model, std::int64_t T);

/// Compares a clock with the master's. Round trips come in batches, each short against the time
/// between them. Pure arithmetic: no MPI, no clock.
///
/// The remote time was read somewhere within the round trip, so that the middle of it is wrong by no
/// more than its half (Cristian 1989), whatever delayed it. Delays only lengthen round trips:
/// a batch counts the shortest ones, and makes of them one point (local time, offset, error). The
/// model is the line through the points of the last 64 batches, weighted with 1 / error^2. So a batch
/// of nothing but delayed round trips has an error bar that tells, and next to no weight.
class ClockFit {
 public:
  /// In any order within a batch. One that ends before it starts is left out.
  void add(const RoundTrip& trip);
  /// Makes the model anew. Without round trips since the last call it does nothing.
  void end_batch();

  /// The identity before the first batch.
  [[nodiscard]] ClockModel model() const { return model_; }
  /// The precision is good from the last batch to `until`, ns on the master's clock: when the model
  /// after this one is due. Before the first batch it is infinite.
  ///
  /// It adds up, for the batch for which that is the least: half its round trips, its distance from
  /// the line, and the error of the rate from there to `until`; and the residual. While the clock keeps
  /// its rate this is a bound whatever the delays. When it does not, batches before the newest that
  /// shows it do not count, and the residual allows for the future.
  [[nodiscard]] ClockQuality quality(std::int64_t until) const;

 private:
  struct Point {
    std::int64_t local;
    std::int64_t offset;  ///< master minus local
    double error;         ///< of the offset, ns; more than 0
  };
  struct Line;

  [[nodiscard]] Point summary() const;
  [[nodiscard]] Line line() const;
  /// Of a point from the model, ns.
  [[nodiscard]] double distance(const Point& point) const;
  /// How far the model can be off at `at` (ns, master) by what this point alone says, if the rate is
  /// as good as it is said to be; without any if at the point itself.
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
