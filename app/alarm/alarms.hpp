#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/alarm/alarm_command.hpp"
#include "app/alarm/alarm_condition.hpp"
#include "app/monitor/run_snapshot.hpp"

namespace eventloom {

/// The alarms of a run. One is raised when its condition becomes true and over when it becomes false; while its value
/// is not known it stays as it is. Both are told in the log, and by a program. For the main thread.
class Alarms {
 public:
  /// `command`: words, none: no program. Throws UserError when there is no such program. `run`: its output.
  Alarms(std::vector<AlarmCondition> conditions, std::vector<std::string> command, std::string run);

  /// By number, for programs that are told of an alarm of one.
  void set_sources(std::vector<std::string> names) { sources_ = std::move(names); }
  /// Looks whether the conditions hold, and adds that to the snapshot.
  void look(RunSnapshot& snapshot);
  /// After the last look: waits some seconds at most for programs that still run.
  void finish();

 private:
  void change(const AlarmCondition& condition, AlarmState& state);

  std::vector<AlarmCondition> conditions_;
  std::vector<AlarmState> states_;
  std::optional<AlarmCommand> command_;
  std::string run_;
  std::vector<std::string> sources_;
};

}  // namespace eventloom
