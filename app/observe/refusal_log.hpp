#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace eventloom {

/// Logs refused commands, at most ten per minute, so that a client cannot flood the log.
class RefusalLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void say(const std::string& reason, const std::string& from, Time now);

 private:
  static constexpr auto kStretch = std::chrono::minutes(1);
  static constexpr std::uint32_t kMost = 10;

  Time since_{};
  std::uint32_t refused_ = 0;  ///< refusals since then
};

}  // namespace eventloom
