#include "app/observe/alarm_command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options/parsers.hpp>
#include <boost/token_functions.hpp>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

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

/// Locates the program as a shell would.
std::string find_program(const std::string& name) {
  const auto can_run = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != std::string::npos && can_run(name)) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(name.find('/') == std::string::npos && path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (auto file = (folder.empty() ? "." : folder) + "/" + name; can_run(file)) return file;
  }
  throw UserError("--alarm-command: there is no program '" + name + "' that can be executed");
}

/// Returns the environment of this program, with these variables set.
std::vector<std::string> with(std::vector<std::string> all, const AlarmCommand::Variables& variables) {
  for (const auto& [name, value] : variables) {
    std::erase_if(all, [&set = name](const std::string& old) { return old.starts_with(set + "="); });
    all.push_back(name + "=" + value);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Start conditions of the program: it inherits no files, ports or devices. Its output goes to standard error, because
/// standard output carries only results. Signal handling is the default, and terminal signals do not reach it.
class Beginning {
 public:
  Beginning() {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&how_);
    posix_spawnattr_setflags(&how_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how_, &signals);
  }
  ~Beginning() {
    posix_spawnattr_destroy(&how_);
    posix_spawn_file_actions_destroy(&files_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* files() const { return &files_; }
  [[nodiscard]] const posix_spawnattr_t* how() const { return &how_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t how_{};
};

}  // namespace

std::vector<std::string> split_alarm_command(const std::string& text) {
  namespace po = boost::program_options;
  std::vector<std::string> words;
  try {
    words = po::split_unix(text);
    // If a quote is still open, it absorbs the appended word.
    if (po::split_unix(text + " x").back() != "x") throw boost::escaped_list_error("a quote is not closed");
  } catch (const boost::escaped_list_error& e) {
    throw UserError("--alarm-command: " + std::string(e.what()) +
                    "; use quotes around words with blanks, and \\\\ for \\");
  }
  if (words.empty() || words.front().empty()) throw UserError("--alarm-command must name a program and its arguments");
  return words;
}

AlarmCommand::AlarmCommand(std::vector<std::string> words) : words_(std::move(words)) {
  words_.front() = find_program(words_.front());
  for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
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
    spdlog::error("--alarm-command: {} wait already; this one is not run", kMostWaiting);
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
  spdlog::error("--alarm-command: at the end of the run {} still run and are ended, {} were not started",
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

void AlarmCommand::start(const Variables& variables) {
  const Beginning beginning;
  auto environment = with(environment_, variables);
  pid_t process = 0;
  const int error = posix_spawn(&process, words_.front().c_str(), beginning.files(), beginning.how(),
                                pointers(words_).data(), pointers(environment).data());
  if (error == 0) return children_.push_back({process, std::chrono::steady_clock::now()});
  spdlog::error("--alarm-command: cannot start {}: {}", words_.front(), std::generic_category().message(error));
  const std::lock_guard lock(mutex_);
  --open_;
  changed_.notify_all();
}

void AlarmCommand::look_after_children() {
  const auto ended = std::erase_if(children_, [this](const Child& child) { return has_ended(child); });
  if (ended == 0) return;
  const std::lock_guard lock(mutex_);
  open_ -= ended;
  changed_.notify_all();
}

bool AlarmCommand::has_ended(const Child& child) const {
  int status = 0;
  const auto found = ::waitpid(child.process, &status, WNOHANG);
  if (found == 0) {
    if (ends_ || std::chrono::steady_clock::now() - child.began > kLongest) ::kill(-child.process, SIGKILL);
    return false;
  }
  if (found < 0) return errno != EINTR;  // if children are not waited for, the exit status is unknown
  if (WIFSIGNALED(status)) {
    const bool killed = std::chrono::steady_clock::now() - child.began > kLongest;
    spdlog::error("--alarm-command: {} was ended by signal {}{}", words_.front(), WTERMSIG(status),
                  killed ? ": it had run for a minute" : "");
  } else if (WEXITSTATUS(status) != 0) {
    spdlog::error("--alarm-command: {} ended with exit code {}", words_.front(), WEXITSTATUS(status));
  }
  return true;
}

}  // namespace eventloom
