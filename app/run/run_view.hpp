#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/alarm_condition.hpp"
#include "app/observe/alarms.hpp"
#include "app/observe/disk_watch.hpp"
#include "app/observe/monitor.hpp"
#include "app/observe/progress.hpp"
#include "app/observe/run_description.hpp"
#include "app/observe/run_desk.hpp"
#include "app/observe/run_snapshot.hpp"
#include "app/run/live_histograms.hpp"
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

/// Collective. Opens the port of the monitor on rank 0; null elsewhere, and without --monitor. `desk`: see Monitor.
/// Throws UserError, the same on all ranks, if that fails.
std::unique_ptr<Monitor> open_monitor(const ViewSettings& settings, const RunDescription& run, RunDesk* desk,
                                      const Collective& ranks);

/// Displays a run in progress and accepts commands: progress, monitor and alarms. Does nothing except on rank 0.
class RunView final : public TurnTask {
 public:
  /// Collective. `monitor`, `desk`: null if there is none; they must outlive this object. With a desk, other runs may
  /// follow. Throws UserError, the same on all ranks, if there is no program for alarms.
  RunView(const ViewSettings& settings, RunDescription run, Monitor* monitor, RunDesk* desk, const Collective& ranks);

  /// Call once the sources and roles are known, before the sources are open.
  void announce(const RunSetup& setup);
  /// Call before the first slice. `session` must outlive all calls of turn(). `histograms`: see
  /// LiveHistograms; not used without a monitor.
  void begin(const RunSetup& setup, const RunRecord& record, const RunTracker& tracker, Session& session,
             std::vector<KindHistograms> histograms);
  /// Call repeatedly before begin() while the run waits for live sources, see wait_for_live(). The commands stop and
  /// end act like signals; others are deferred.
  void wait(std::size_t live, std::size_t known);
  /// Whether the run was asked to end while it waits.
  [[nodiscard]] bool waits_no_longer() const { return waits_no_longer_; }
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
  void take_end(std::vector<Request>& requests);
  void look_at_end(const RunResult& result);
  void report_wait(std::size_t live, std::size_t known);
  void open_histograms(const RunSetup& setup, std::vector<KindHistograms> kinds);

  RunDescription description_;
  std::vector<Request> early_;        ///< commands received before the first slice
  std::optional<std::size_t> known_;  ///< number of known live sources last reported
  std::optional<Progress> progress_;
  DiskWatch disk_;
  Monitor* monitor_;
  RunDesk* desk_;
  std::unique_ptr<Alarms> alarms_;
  std::optional<RunTracker> tracker_;
  std::optional<LiveHistograms> histograms_;
  Session* session_ = nullptr;
  bool waits_no_longer_ = false;
  bool failing_ = false;    ///< the run is failing, which has been reported
  bool last_look_ = false;  ///< the alarms have seen the end of the run
};

}  // namespace eventloom
