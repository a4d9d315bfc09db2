#pragma once

#include <cstdint>

namespace eventloom {

/// A process on this host, as seen from one PID and time namespace: processes in containers with process numbers of
/// their own must not exchange these.
struct ProcessId {
  int pid = 0;
  /// Clock ticks since boot (proc(5), /proc/PID/stat, field 22): identifies a reused pid. 0: unknown, then the pid
  /// alone counts.
  std::uint64_t start_time = 0;
};

ProcessId this_process();

enum class ProcessState {
  running,           ///< or able to: asleep, waiting for anything but a disk
  stopped,           ///< by a signal or a debugger; continues with SIGCONT
  waiting_for_disk,  ///< cannot be interrupted; normal for short moments
  dead,              ///< also when its exit code has not been collected yet
};

/// State of a process' first thread according to the kernel (proc(5), /proc/PID/stat, field 3). Never throws: where
/// /proc cannot be read (no file descriptor left, hidden by hidepid=) an existing process counts as running.
ProcessState process_state(const ProcessId& process);

}  // namespace eventloom
