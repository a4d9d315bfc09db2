#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/observe/alarm_command.hpp"
#include "app/observe/alarm_condition.hpp"
#include "app/observe/run_snapshot.hpp"
#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// The alarms of a run. An alarm is raised when its condition becomes true and over when it becomes false; while the
/// value is unknown, its state does not change. Both changes are logged and passed to a program. Main thread only.
class Alarms {
 public:
  /// `command`: program and arguments; empty: no program. `run`: output of the run. Throws UserError if the
  /// program does not exist.
  Alarms(std::vector<AlarmCondition> conditions, std::vector<std::string> command, std::string run);

  /// Sets the source names, indexed by source number, which are passed to the program.
  void set_sources(std::vector<std::string> names) { sources_ = std::move(names); }
  /// Evaluates the conditions and adds the result to the snapshot.
  void look(RunSnapshot& snapshot);
  [[nodiscard]] const std::vector<AlarmState>& states() const { return states_; }
  /// The first kMostRecords alarms, in the order in which they were raised.
  [[nodiscard]] const std::vector<AlarmRecord>& records() const { return records_; }
  static constexpr std::size_t kMostRecords = 10'000;
  /// Call after the last look(). Waits at most some seconds for programs that still run.
  void finish();

 private:
  void change(std::size_t number);
  void keep(std::size_t number, const std::string& now);

  std::vector<AlarmCondition> conditions_;
  std::vector<AlarmState> states_;
  std::vector<AlarmRecord> records_;
  std::vector<std::optional<std::size_t>> open_;  ///< one per condition: its record that is not yet over
  std::optional<AlarmCommand> command_;
  std::string run_;
  std::vector<std::string> sources_;
};

}  // namespace eventloom
