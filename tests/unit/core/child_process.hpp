#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

namespace eventloom {

/// Polls until `condition` holds; returns false if it does not hold within half a minute.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A child process that runs `work` and then ends with code 0; by default it waits for signals. It is killed when the
/// object is destroyed or the test ends.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& work = wait_forever) : parent_(getpid()), pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("no child process");
    if (pid_ > 0) return;
    die_with(parent_);
    work();
    _exit(0);
  }
  ~ChildProcess() {
    send(SIGKILL);
    exit_status();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const { return pid_; }
  void send(int signal) const {
    if (!reaped_) kill(pid_, signal);
  }
  /// Waits for the child's end and returns its status as waitpid(2) does. Until then the child stays a zombie.
  int exit_status() {
    if (!reaped_) waitpid(pid_, &status_, 0);
    reaped_ = true;
    return status_;
  }

  static void wait_forever() {
    for (;;) pause();
  }
  /// Makes the calling child die with `parent`, which may already be dead.
  static void die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }

 private:
  pid_t parent_;
  int pid_;
  int status_ = 0;
  bool reaped_ = false;
};

/// Puts the calling process into the kernel's uninterruptible sleep, like a disk that does not respond: the parent of a
/// vfork() sleeps that way until its child executes a program or ends.
inline void sleep_uninterruptibly() {
  alignas(16) static char stack[64 * 1024];
  const auto child = [](void* parent) {
    ChildProcess::die_with(*static_cast<const pid_t*>(parent));
    ChildProcess::wait_forever();
    return 0;
  };
  pid_t parent = getpid();
  clone(child, stack + sizeof stack, CLONE_VFORK | SIGCHLD, &parent);
}

}  // namespace eventloom
