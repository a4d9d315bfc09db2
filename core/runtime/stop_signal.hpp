#pragma once

#include <string>

namespace eventloom {

/// From here on SIGTERM, SIGINT and SIGUSR1 ask this process to stop in good order instead of ending it; a second
/// SIGINT ends it. Call once, before MPI is initialised.
void catch_stop_signals();

/// While it lives the signals end the program at once, with `code`: for phases without anything to end in good order,
/// in which stop_signal() may not be checked for long. `line`: the message then, "" for none; it must outlive this.
/// After catch_stop_signals(), one at a time.
class EndsAtOnce {
 public:
  EndsAtOnce(int code, const char* line);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

/// The signal that requested a stop, 0 while none has. Any thread.
int stop_signal();

/// "SIGUSR1" for SIGUSR1.
std::string signal_name(int signal);

}  // namespace eventloom
