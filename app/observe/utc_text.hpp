#pragma once

#include <chrono>
#include <string>

#include "formats/utc_time.hpp"

namespace eventloom {

/// Text in whole seconds: "2026-11-22T18:31:48Z".
inline std::string utc_text(std::chrono::system_clock::time_point time) {
  return utc_text(std::int64_t{std::chrono::system_clock::to_time_t(time)} * 1'000'000'000);
}

/// The time now.
inline std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

}  // namespace eventloom
