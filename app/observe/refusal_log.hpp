#pragma once

#include <chrono>
#include <string>

#include "core/runtime/message_limit.hpp"

namespace eventloom {

/// Logs refused commands, at most ten per minute, so that a client cannot flood the log.
class RefusalLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void say(const std::string& reason, const std::string& from, Time now);

 private:
  static constexpr auto kStretch = std::chrono::minutes(1);

  Time since_{};
  MessageLimit refused_;  ///< refusals since then
};

}  // namespace eventloom
