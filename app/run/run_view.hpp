#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/alarm_condition.hpp"
#include "app/observe/alarms.hpp"
#include "app/observe/monitor.hpp"
#include "app/observe/progress.hpp"
#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/failure.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// How a run in progress is displayed.
struct ViewSettings {
  ProgressStyle progress = ProgressStyle::automatic;
  std::optional<MonitorSettings> monitor;  ///< not set: no port is opened
  std::vector<AlarmCondition> alarms;
  std::vector<std::string> alarm_command;  ///< words; empty: none
};

/// Displays a run in progress and accepts commands: progress, monitor and alarms. Does nothing except on rank 0.
class RunView final : public TurnTask {
 public:
  /// Collective. Opens the port of the monitor and finds the program for alarms. Throws UserError, the same on all
  /// ranks, if either fails.
  RunView(const ViewSettings& settings, RunDescription run, const Collective& ranks);

  /// Call once the sources and roles are known, before the sources are open.
  void announce(const RunSetup& setup);
  /// Call before the first slice. `session` must outlive all calls of turn().
  void begin(const RunSetup& setup, const RunRecord& record, const RunTracker& tracker, Session& session);
  /// Call repeatedly before begin() while the run waits for live sources, see wait_for_live(). The commands stop and
  /// end act like signals; others are deferred.
  void wait(std::size_t live, std::size_t known);
  void turn(SteadyTime now) override;
  /// Call after the last turn, with the totals of the run, the first definition first. Adds the accepted commands, the
  /// busy and idle times of builders, the rates, and the alarms raised.
  void add_to(RunResult& result);
  /// Ends the progress display; call before printing results.
  void make_way() { progress_.reset(); }
  /// Call at the end of the run.
  void conclude(const RunResult& result, int exit_code, const std::string& stopped_by);
  /// Call if an error ends the run.
  void fail(const Failure& failure);

 private:
  [[nodiscard]] std::string state() const;
  void look_at_end(const RunResult& result);
  void report_wait(std::size_t live, std::size_t known);

  RunDescription description_;
  std::vector<Request> early_;        ///< commands received before the first slice
  std::optional<std::size_t> known_;  ///< number of known live sources last reported
  std::optional<Progress> progress_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Alarms> alarms_;
  std::optional<RunTracker> tracker_;
  Session* session_ = nullptr;
  bool failing_ = false;    ///< the run is failing, which has been reported
  bool last_look_ = false;  ///< the alarms have seen the end of the run
};

}  // namespace eventloom
