#include "app/observe/alarm_command.hpp"

#include <unistd.h>

#include "app/command/command_words.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/signals_blocked.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostAtATime = 4;
constexpr std::size_t kMostWaiting = 100;
constexpr auto kChildLook = std::chrono::milliseconds(20);
constexpr auto kLongest = std::chrono::seconds(60);
constexpr auto kToDie = std::chrono::seconds(1);

}  // namespace

AlarmCommand::AlarmCommand(std::vector<std::string> words) : words_(std::move(words)) {
  words_.front() = required_program(words_.front(), "--alarm-command");
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { work(); });
}

AlarmCommand::~AlarmCommand() {
  {
    const std::lock_guard lock(mutex_);
    leaves_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void AlarmCommand::run(Variables variables) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= kMostWaiting) {
    log::error("--alarm-command: {} wait already; this one is not run", kMostWaiting);
    return;
  }
  queue_.push_back(std::move(variables));
  ++open_;
  changed_.notify_all();
}

void AlarmCommand::finish(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  const auto all_ended = [this] { return open_ == 0; };
  if (changed_.wait_for(lock, patience, all_ended)) return;
  log::error("--alarm-command: at the end of the run {} still run and are ended, {} were not started",
             open_ - queue_.size(), queue_.size());
  open_ -= queue_.size();
  queue_.clear();
  ends_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, kToDie, all_ended);
}

// The following functions run on the thread.

void AlarmCommand::work() {
  Variables next;
  while (wait_for_work(next)) {
    if (!next.empty()) start(next);
    look_after_children();
  }
}

/// Returns false when the thread must end. `next`: the next program to start, if any.
bool AlarmCommand::wait_for_work(Variables& next) {
  next.clear();
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return leaves_ || (!queue_.empty() && children_.size() < kMostAtATime); };
  if (children_.empty()) {
    changed_.wait(lock, ready);
  } else {
    changed_.wait_for(lock, kChildLook, ready);
  }
  if (leaves_ || !ready()) return !leaves_;
  next = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

/// The program inherits no files, ports and devices; its output goes to standard error, since only results go to
/// standard output. Signals of a terminal do not reach it.
void AlarmCommand::start(const Variables& variables) {
  try {
    Subprocess process(Program{.words = words_,
                               .environment = with_variables(environment_, variables),
                               .output = STDERR_FILENO,
                               .own_group = true});
    return children_.push_back({std::move(process), std::chrono::steady_clock::now()});
  } catch (const UserError& e) {
    log::error("--alarm-command: {}", e.what());
  }
  const std::lock_guard lock(mutex_);
  --open_;
  changed_.notify_all();
}

void AlarmCommand::look_after_children() {
  const auto ended = std::erase_if(children_, [this](Child& child) { return has_ended(child); });
  if (ended == 0) return;
  const std::lock_guard lock(mutex_);
  open_ -= ended;
  changed_.notify_all();
}

bool AlarmCommand::has_ended(Child& child) const {
  const bool too_long = std::chrono::steady_clock::now() - child.began > kLongest;
  const auto end = child.process.poll();
  if (!end) {
    if (ends_ || too_long) child.process.kill();
  } else if (end->signal != 0) {
    log::error("--alarm-command: {} was ended by signal {}{}", words_.front(), end->signal,
               too_long ? ": it had run for a minute" : "");
  } else if (end->exit_code != 0) {
    log::error("--alarm-command: {} ended with exit code {}", words_.front(), end->exit_code);
  }
  return end.has_value();
}

}  // namespace eventloom
