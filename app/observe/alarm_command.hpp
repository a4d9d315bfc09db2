#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/subprocess.hpp"

namespace eventloom {

/// --alarm-command as the words of a program and its arguments: blanks separate them, but not between quotes, of which
/// ' and " mean the same; a backslash keeps a quote, a blank or a backslash. Nothing else means anything: no shell sees
/// it. Throws UserError.
std::vector<std::string> split_alarm_command(const std::string& text);

/// Runs a program now and then, on a thread of its own, so that neither a slow program nor a slow disk holds up the
/// run. A few at a time; others wait in their order. What it is about comes in variables of the environment.
class AlarmCommand {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Throws UserError when there is no such program.
  explicit AlarmCommand(std::vector<std::string> words);
  /// Leaves programs alone that still run, unless finish() has ended them.
  ~AlarmCommand();
  AlarmCommand(const AlarmCommand&) = delete;
  AlarmCommand& operator=(const AlarmCommand&) = delete;

  /// Soon. Never blocks.
  void run(Variables variables);
  /// Waits for all of them, so long at most; then ends them with all that they have started: whoever reads their
  /// output, such as mpirun, would wait for them.
  void finish(std::chrono::nanoseconds patience);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Child {
    Subprocess process;
    Time began;
  };

  void work();
  bool wait_for_work(Variables& next);
  void start(const Variables& variables);
  void look_after_children();
  bool has_ended(Child& child) const;

  std::vector<std::string> words_;
  Environment environment_ = own_environment();
  std::vector<Child> children_;    ///< of the thread alone
  std::atomic<bool> ends_{false};  ///< they must
  std::mutex mutex_;               ///< of all that follows
  std::condition_variable changed_;
  std::deque<Variables> queue_;
  std::size_t open_ = 0;  ///< that have not ended, in the queue or not
  bool leaves_ = false;
  std::thread thread_;  ///< last: uses the rest
};

}  // namespace eventloom
