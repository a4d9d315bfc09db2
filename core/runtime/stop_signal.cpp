#include "core/runtime/stop_signal.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace eventloom {

namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");

/// Message and exit code when a signal ends the program immediately; a negative code disables this.
std::atomic<int> code_at_once{-1};
std::atomic<const char*> line_at_once{""};

void note(int signal) {
  if (const int code = code_at_once.load(); code >= 0) {
    const char* line = line_at_once.load();
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, std::strlen(line));
    _exit(code);
  }
  int none = 0;
  caught.compare_exchange_strong(none, signal);
}

void handle(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_stop_signals() {
  handle(SIGTERM, 0);
  // Slurm's early signal reaches the ranks twice if it is sent to both mpirun and the ranks.
  handle(SIGUSR1, 0);
  // A second Ctrl-C is deliberate.
  handle(SIGINT, SA_RESETHAND);
}

EndsAtOnce::EndsAtOnce(int code, const char* line) {
  line_at_once = line;
  code_at_once = code;
}

EndsAtOnce::~EndsAtOnce() { code_at_once = -1; }

int stop_signal() { return caught.load(); }

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

}  // namespace eventloom
