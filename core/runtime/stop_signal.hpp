#pragma once

#include <string>

namespace eventloom {

/// From here on SIGTERM, SIGINT and SIGUSR1 ask this process to stop in good order instead of ending
/// it; a second SIGINT ends it. Once, before MPI is initialised.
void catch_stop_signals();

/// The signal that has asked to stop, 0 while none has. Any thread.
int stop_signal();

/// "SIGUSR1" for SIGUSR1.
std::string signal_name(int signal);

}  // namespace eventloom
