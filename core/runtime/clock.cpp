#include "core/runtime/clock.hpp"

#include <chrono>

namespace eventloom {

std::int64_t steady_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace eventloom
