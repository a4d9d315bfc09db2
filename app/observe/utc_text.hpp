#pragma once

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <string>

namespace eventloom {

/// Example: "2026-11-22T18:31:48Z".
inline std::string utc_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

/// The time now.
inline std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

}  // namespace eventloom
