#pragma once

#include <string>

namespace eventloom {

/// Makes SIGTERM, SIGINT and SIGUSR1 request an orderly stop instead of ending the process; a second SIGINT ends it.
/// Call once, in a rank before MPI is initialised.
void catch_stop_signals();

/// During its lifetime the signals end the program immediately, with `code`: for phases that have nothing to end
/// cleanly, and may not check stop_signal() for long. `line`: message printed then, "" for none; it must outlive the
/// object. Use after catch_stop_signals(), one at a time.
class EndsAtOnce {
 public:
  EndsAtOnce(int code, const char* line);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

/// The signal that requested a stop, 0 if none has. May be called from any thread.
int stop_signal();

/// Returns "SIGUSR1" for SIGUSR1.
std::string signal_name(int signal);

}  // namespace eventloom
