#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/alarm/alarm_command.hpp"
#include "app/alarm/alarm_condition.hpp"
#include "app/monitor/run_snapshot.hpp"
#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// The alarms of a run. One is raised when its condition becomes true and over when it becomes false; while its value
/// is not known it stays as it is. Both are reported in the log, and to a program. For the main thread.
class Alarms {
 public:
  /// `command`: words, none: no program. Throws UserError when there is no such program. `run`: its output.
  Alarms(std::vector<AlarmCondition> conditions, std::vector<std::string> command, std::string run);

  /// By number, for programs that are notified of an alarm of one.
  void set_sources(std::vector<std::string> names) { sources_ = std::move(names); }
  /// Looks whether the conditions hold, and adds that to the snapshot.
  void look(RunSnapshot& snapshot);
  [[nodiscard]] const std::vector<AlarmState>& states() const { return states_; }
  /// The first kMostRecords that were raised, in the order of time.
  [[nodiscard]] const std::vector<AlarmRecord>& records() const { return records_; }
  static constexpr std::size_t kMostRecords = 10'000;
  /// After the last look: waits some seconds at most for programs that still run.
  void finish();

 private:
  void change(std::size_t number);
  void keep(std::size_t number, const std::string& now);

  std::vector<AlarmCondition> conditions_;
  std::vector<AlarmState> states_;
  std::vector<AlarmRecord> records_;
  std::vector<std::optional<std::size_t>> open_;  ///< by condition: its record that is not over
  std::optional<AlarmCommand> command_;
  std::string run_;
  std::vector<std::string> sources_;
};

}  // namespace eventloom
