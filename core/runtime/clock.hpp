#pragma once

#include <chrono>
#include <cstdint>

namespace eventloom {

/// Nanoseconds of the steady clock: since an arbitrary moment of this host, monotonic.
std::int64_t steady_ns();

inline double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace eventloom
