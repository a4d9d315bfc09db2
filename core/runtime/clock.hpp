#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace eventloom {

/// Nanoseconds on this host's steady clock, since an arbitrary moment; monotonic.
std::int64_t steady_ns();

/// Reads any system clock; CLOCK_THREAD_CPUTIME_ID, for example, gives the CPU time that this thread has used.
std::chrono::nanoseconds time_of(clockid_t clock);

inline double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace eventloom
