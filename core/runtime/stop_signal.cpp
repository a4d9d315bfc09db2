#include "core/runtime/stop_signal.hpp"

#include <atomic>
#include <csignal>
#include <cstring>

namespace eventloom {

namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");

void note(int signal) {
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
  // Slurm's early signal reaches the ranks twice where it goes to mpirun and to them.
  handle(SIGUSR1, 0);
  // Whoever presses Ctrl-C again means it.
  handle(SIGINT, SA_RESETHAND);
}

int stop_signal() { return caught.load(); }

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

}  // namespace eventloom
