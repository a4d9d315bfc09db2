#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/observe/alarms.hpp"
#include "app/observe/monitor.hpp"
#include "app/observe/progress.hpp"
#include "app/observe/run_snapshot.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_setup.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/failure.hpp"
#include "io/hdf5/run_file.hpp"

namespace eventloom {

/// What people see of a run while it goes on, and the commands they give: progress, monitor and alarms. Does nothing on
/// other ranks than the first.
class RunView final : public TurnTask {
 public:
  /// Collective. Opens the port of the monitor and finds the program of alarms; throws UserError, the same on all
  /// ranks, when it cannot.
  RunView(const RunConfig& config, const Collective& ranks);

  /// As soon as it is known which sources and roles the run has, before the sources are open.
  void announce(const RunConfig& config, const RunSetup& setup);
  /// Before the first slice. `before`: what an earlier invocation has finished; `session` must outlive the turns.
  void begin(const RunConfig& config, const RunSetup& setup, const RunRecord& record, const Counters& before,
             Session& session);
  /// Once a turn before that, while live sources are waited for, see wait_for_live(): stop and end do what a signal
  /// does, the rest is for later.
  void wait(std::size_t live, std::size_t known);
  void turn(SteadyTime now) override;
  /// After the last, with the totals of the run, first those of the first definition: the commands that were accepted,
  /// what builders did with their time, the rates, and the alarms that were raised.
  void add_to(RunResult& result);
  /// Before results are printed: ends the progress.
  void make_way() { progress_.reset(); }
  /// The end of the run.
  void conclude(const RunResult& result, int exit_code, const std::string& stopped_by);
  /// An error ends it.
  void fail(const Failure& failure);

 private:
  [[nodiscard]] std::string state() const;
  void look_at_end(const RunResult& result);
  void tell_wait(std::size_t live, std::size_t known);

  std::vector<Request> early_;        ///< commands that came before the first slice
  std::optional<std::size_t> known_;  ///< live sources, as last reported
  std::optional<Progress> progress_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Alarms> alarms_;
  std::optional<RunTracker> tracker_;
  Session* session_ = nullptr;
  bool failing_ = false;    ///< and this has been reported
  bool last_look_ = false;  ///< of the alarms: done
};

}  // namespace eventloom
