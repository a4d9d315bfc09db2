#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/alarm/alarms.hpp"
#include "app/monitor/monitor.hpp"
#include "app/monitor/run_snapshot.hpp"
#include "app/run/progress.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_setup.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/failure.hpp"
#include "io/hdf5/run_file.hpp"

namespace eventloom {

/// What people see of a run while it goes on, and the commands they give: progress, monitor and alarms. Does nothing on
/// other ranks than the first.
class RunView {
 public:
  /// Collective. Opens the port of the monitor and finds the program of alarms; throws UserError, the same on all
  /// ranks, when it cannot.
  RunView(const RunConfig& config, const Collective& ranks);

  /// Before the first slice. `before`: what an earlier invocation has finished; `session` must outlive the turns.
  void begin(const RunConfig& config, const RunSetup& setup, const RunRecord& record, const Counters& before,
             Session& session);
  /// Once a turn before that, while sources are waited for: stop and end do what a signal does, the rest is for later.
  void wait();
  /// Once a turn.
  void turn(SteadyTime now);
  /// After the last: the commands that were accepted, what builders did with their time, and the rates.
  void add_to(RunResult& result) const;
  /// Before results are printed: ends the progress.
  void make_way() { progress_.reset(); }
  /// The end of the run.
  void conclude(const RunResult& result, int exit_code, const std::string& stopped_by);
  /// An error ends it.
  void fail(const Failure& failure);

 private:
  [[nodiscard]] std::string state() const;

  std::vector<Request> early_;  ///< commands that came before the first slice
  std::optional<Progress> progress_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Alarms> alarms_;
  std::optional<RunTracker> tracker_;
  Session* session_ = nullptr;
  bool failing_ = false;  ///< and this has been told
};

}  // namespace eventloom
