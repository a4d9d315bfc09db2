#pragma once

#include <cstdint>

namespace eventloom {

/// Nanoseconds of the steady clock: since an arbitrary moment of this host, never falls.
std::int64_t steady_ns();

}  // namespace eventloom
