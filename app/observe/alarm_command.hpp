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

/// Runs a program on demand, from a separate thread, so that neither a slow program nor a slow disk delays the run.
/// Runs only a few at a time; the others wait in order. The program gets its data in environment variables.
class AlarmCommand {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Throws UserError if there is no such program.
  explicit AlarmCommand(std::vector<std::string> words);
  /// Leaves running programs alone, unless finish() has ended them.
  ~AlarmCommand();
  AlarmCommand(const AlarmCommand&) = delete;
  AlarmCommand& operator=(const AlarmCommand&) = delete;

  /// Schedules the program. Never blocks.
  void run(Variables variables);
  /// Waits for all programs, at most `patience`, then kills those left and all their descendants: a reader of their
  /// output, such as mpirun, would otherwise wait for them.
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
  std::vector<Child> children_;    ///< used only by the thread
  std::atomic<bool> ends_{false};  ///< children must end
  std::mutex mutex_;               ///< guards the members below
  std::condition_variable changed_;
  std::deque<Variables> queue_;
  std::size_t open_ = 0;  ///< programs that have not ended, queued or running
  bool leaves_ = false;
  std::thread thread_;  ///< declared last: the thread uses the other members
};

}  // namespace eventloom
