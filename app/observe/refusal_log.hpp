#pragma once

#include <chrono>
#include <string>

#include "core/runtime/message_limit.hpp"

namespace eventloom {

/// Tells the log which commands were refused, ten a minute at most: whoever tries many must not fill it.
class RefusalLog {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void say(const std::string& reason, const std::string& from, Time now);

 private:
  static constexpr auto kStretch = std::chrono::minutes(1);

  Time since_{};
  MessageLimit refused_;  ///< since then
};

}  // namespace eventloom
