#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control/heartbeat.hpp"
#include "core/monitor/run_picture.hpp"
#include "formats/control_wire.hpp"

namespace eventloom {

/// What a run does at one moment.
struct RunFigures {
  double hits_per_s = 0;  ///< built
  double bytes_per_s = 0;
  double events_per_s = 0;
  double slices_per_s = 0;
  std::optional<double> latency_p50_ns;  ///< of the events since RunSnapshot::before
  std::optional<double> latency_p99_ns;
  double ring_fill = 0;               ///< 0 to 1
  std::optional<double> share;        ///< of the run that is done, 0 to 1; nothing while unknown
  std::optional<double> remaining_s;  ///< likewise
};

/// Figures over time: at most kMost moments, of a long run every second one, every fourth, ...
struct RunSeries {
  static constexpr std::size_t kMost = 600;
  struct Moment {
    double elapsed_s = 0;
    RunFigures figures;
  };
  std::vector<Moment> moments;
  std::size_t stride = 1;
  std::size_t seen = 0;

  void add(const Moment& moment);
};

/// What a condition of --alarm says of a run.
struct AlarmState {
  std::string condition;
  bool active = false;
  std::string raised;           ///< UTC, the last time; empty: never
  std::optional<double> value;  ///< the last that was known
};

/// How a run is, beside its figures.
struct RunCondition {
  std::string state = "starting";  ///< starting, running, paused, stopping, ended, failed
  std::string message = {};        ///< one line; may be empty
  Heartbeat::Silence silence = {};
  double speed = 0;  ///< of recordings, in multiples of the recorded one; 0: as fast as possible
};

/// A run at one moment. Never changes: any thread may read it.
struct RunSnapshot {
  RunCondition condition;
  RunPicture::Time taken{};
  double elapsed_s = 0;
  RunPicture now;
  RunPicture before;             ///< some seconds ago, for rates
  std::vector<double> silent_s;  ///< by rank: how long rank 0 has waited for it
  double stalled_s = 0;          ///< the longest of these, or the time without progress in any rank; not while paused
  RunPicture::Time paused{};     ///< when the run was last seen in another state than running
  std::vector<ClockQuality> clocks;  ///< by rank; empty where they are not compared
  Counters totals;                   ///< of the whole run, those of an earlier invocation included
  RunFigures figures;
  RunSeries series;
  std::vector<AlarmState> alarms;
  std::optional<int> exit_code;  ///< of a run that has ended

  /// Between what the rank had reported in `before` and in `now`: ranks do so once a second, not all at the same time.
  /// 0 if it has not reported anew.
  [[nodiscard]] double seconds_reported(std::size_t rank) const;
};

/// Rank 0 alone: takes a snapshot once a second.
class RunTracker {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `duration`: of the run; 0: until its sources end. `before`: what an earlier invocation has finished.
  RunTracker(std::chrono::nanoseconds duration, const Counters& before) : duration_(duration), resumed_(before) {}

  [[nodiscard]] bool due(Time now) const { return now >= next_; }
  /// What the caller knows besides it may add before anybody else reads the snapshot.
  [[nodiscard]] std::shared_ptr<RunSnapshot> take(Time now, const RunPicture& picture, RunCondition condition);
  /// The last one, of a run that has ended: `totals` as its summary has them.
  [[nodiscard]] std::shared_ptr<RunSnapshot> conclude(const RunPicture& picture, const Counters& totals, int exit_code,
                                                      std::string message);
  /// The last one, of a run that an error ends.
  [[nodiscard]] std::shared_ptr<RunSnapshot> fail(int exit_code, std::string message) const;

  /// Up to the last snapshot.
  [[nodiscard]] RunSeries series() const { return last_ ? last_->series : RunSeries(); }

 private:
  [[nodiscard]] std::shared_ptr<RunSnapshot> last_with(RunCondition condition, int exit_code) const;
  void add_stall(Time now, RunSnapshot& snapshot);
  void add_figures(RunSnapshot& snapshot) const;
  void add_remaining(RunSnapshot& snapshot);

  std::chrono::nanoseconds duration_;
  Counters resumed_;
  std::optional<Time> begun_;
  /// Where the present speed began, as the time that is left goes by it.
  double paced_since_s_ = 0;
  double paced_from_ = 0;  ///< share of the data
  Time next_{};
  Time progress_{};              ///< when it was last seen
  Time paused_{};                ///< see RunSnapshot
  std::deque<RunPicture> past_;  ///< of the last snapshots, the oldest first
  std::shared_ptr<const RunSnapshot> last_;
};

/// The time that a share `p` of the entries of a histogram of times does not exceed, at most a quarter above it;
/// nothing without entries.
std::optional<double> percentile(const LogHistogram& histogram, double p);

}  // namespace eventloom
