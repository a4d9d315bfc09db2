#pragma once

#include <cstdint>

#include "core/transport/transport.hpp"

namespace eventloom {

/// State of the memory from which a put reads.
enum class PutMemory {
  warm,  ///< the bytes of the previous put: in the caches if they fit
  cold,  ///< written back and removed from all caches before each put
};

/// Returns the median time of a put of `bytes` to the start of rank `to`'s window and its flush, in ns. Repeats for
/// about `seconds`, at least 11 times; the removal from the caches is not timed.
double put_ns(Transport& transport, int to, std::uint64_t bytes, PutMemory state, double seconds);

}  // namespace eventloom
