#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace eventloom {

/// Nanoseconds of the steady clock: since an arbitrary moment of this host, monotonic.
std::int64_t steady_ns();

/// Of any clock of the system, such as CLOCK_THREAD_CPUTIME_ID: the CPU time that this thread has used.
std::chrono::nanoseconds time_of(clockid_t clock);

inline double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace eventloom
