#pragma once

#include <cstdint>

namespace eventloom {

/// A process on this host, as seen from one PID and time namespace: processes in containers with separate PID
/// namespaces must not exchange these.
struct ProcessId {
  int pid = 0;
  /// Clock ticks since boot (proc(5), /proc/PID/stat, field 22): distinguishes a reused pid. 0: unknown; the pid alone
  /// then identifies the process.
  std::uint64_t start_time = 0;
};

ProcessId this_process();

enum class ProcessState {
  running,           ///< or runnable, or asleep, waiting for anything but a disk
  stopped,           ///< stopped by a signal or a debugger; continues with SIGCONT
  waiting_for_disk,  ///< cannot be interrupted; normal for short moments
  dead,              ///< includes zombies
};

/// State of a process's first thread according to the kernel (proc(5), /proc/PID/stat, field 3). Never throws: if /proc
/// cannot be read (no file descriptor left, hidden by hidepid=), an existing process counts as running.
ProcessState process_state(const ProcessId& process);

}  // namespace eventloom
