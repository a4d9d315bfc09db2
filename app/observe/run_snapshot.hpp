#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/disk_watch.hpp"
#include "core/control/heartbeat.hpp"
#include "core/monitor/run_picture.hpp"
#include "formats/control_wire.hpp"

namespace eventloom {

/// Figures of a run at one moment.
struct RunFigures {
  double hits_per_s = 0;  ///< rate of hits built
  double bytes_per_s = 0;
  double events_per_s = 0;
  double slices_per_s = 0;
  std::optional<double> latency_p50_ns;  ///< latency of the events since RunSnapshot::before
  std::optional<double> latency_p99_ns;
  double ring_fill = 0;               ///< 0 to 1
  std::optional<double> share;        ///< fraction of the run that is done, 0 to 1; std::nullopt: unknown
  std::optional<double> remaining_s;  ///< std::nullopt: unknown
};

/// Figures over time: at most kMost moments. A long run keeps every second moment, then every fourth, and so on.
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

/// State of a condition of --alarm.
struct AlarmState {
  std::string condition;
  bool active = false;
  std::string raised;           ///< UTC time of the last raise; empty: never raised
  std::optional<double> value;  ///< last known value
};

/// Condition of a run, apart from its figures.
struct RunCondition {
  std::string state = "starting";  ///< starting, running, paused, stopping, ended, failed
  std::string message = {};        ///< one line; may be empty
  Heartbeat::Silence silence = {};
  double speed = 0;  ///< replay speed, as a multiple of the recorded speed; 0: as fast as possible
};

/// A run at one moment. Immutable: any thread may read it.
struct RunSnapshot {
  RunCondition condition;
  RunPicture::Time taken{};
  double elapsed_s = 0;
  RunPicture now;
  RunPicture before;                 ///< some seconds ago; used for rates
  std::vector<double> silent_s;      ///< one per rank: how long rank 0 has waited for its report
  double stalled_s = 0;              ///< maximum of silent_s and of the time without progress in any rank; not
                                     ///< counted while paused
  RunPicture::Time paused{};         ///< when the run was last seen in a state other than running
  std::vector<ClockQuality> clocks;  ///< one per rank; empty if clocks are not compared
  Counters totals;                   ///< totals of the whole run, including an earlier invocation
  RunFigures figures;
  RunSeries series;
  DiskFigures disk;
  std::vector<AlarmState> alarms;
  std::optional<int> exit_code;  ///< set once the run has ended

  /// Time between the rank's reports in `before` and in `now`, in seconds; ranks report once a second, but not all at
  /// the same time. 0 if the rank has not reported again.
  [[nodiscard]] double seconds_reported(std::size_t rank) const;
};

/// Takes a snapshot once a second. Rank 0 only.
class RunTracker {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `duration`: duration of the run; 0: until its sources end. `before`: counters of an earlier invocation.
  RunTracker(std::chrono::nanoseconds duration, const Counters& before) : duration_(duration), resumed_(before) {}

  [[nodiscard]] bool due(Time now) const { return now >= next_; }
  /// The caller may add what else it knows before any other thread reads the snapshot.
  [[nodiscard]] std::shared_ptr<RunSnapshot> take(Time now, const RunPicture& picture, RunCondition condition);
  /// Returns the last snapshot of a run that has ended; `totals`: as in its summary.
  [[nodiscard]] std::shared_ptr<RunSnapshot> conclude(const RunPicture& picture, const Counters& totals, int exit_code,
                                                      std::string message);
  /// Returns the last snapshot of a run that ends with an error.
  [[nodiscard]] std::shared_ptr<RunSnapshot> fail(int exit_code, std::string message) const;

  /// Returns the series up to the last snapshot.
  [[nodiscard]] RunSeries series() const { return last_ ? last_->series : RunSeries(); }

 private:
  [[nodiscard]] std::shared_ptr<RunSnapshot> last_with(RunCondition condition, int exit_code) const;
  void add_stall(Time now, RunSnapshot& snapshot);
  void add_figures(RunSnapshot& snapshot) const;
  void add_remaining(RunSnapshot& snapshot);

  std::chrono::nanoseconds duration_;
  Counters resumed_;
  std::optional<Time> begun_;
  /// Time at which the current speed began; the remaining time is extrapolated from there.
  double paced_since_s_ = 0;
  double paced_from_ = 0;  ///< share of the data at that time
  Time next_{};
  Time progress_{};              ///< time of the last progress
  Time paused_{};                ///< see RunSnapshot
  std::deque<RunPicture> past_;  ///< the last snapshots, oldest first
  std::shared_ptr<const RunSnapshot> last_;
};

/// Returns the time that a fraction `p` of the histogram's entries does not exceed, rounded up by at most a quarter;
/// std::nullopt if there are no entries.
std::optional<double> percentile(const LogHistogram& histogram, double p);

}  // namespace eventloom
