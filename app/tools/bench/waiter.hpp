#pragma once

#include <cstdint>
#include <string>

#include "io/files/descriptor.hpp"

namespace eventloom {

/// How a rank waits for a message.
enum class Wait : std::uint8_t {
  poll,   ///< polls again at once
  yield,  ///< yields its core between polls
  sleep,  ///< sleeps 5 us between polls, and as much longer as the system lets a sleeper oversleep, commonly 50 us
  timer,  ///< is woken every 10 us by a timer of high resolution, and polls then
};
/// Throws std::invalid_argument, which lists the names.
Wait parse_wait(const std::string& name);

/// Waits between two polls. Not thread-safe.
class Waiter {
 public:
  /// Throws std::runtime_error if the system has no timer for Wait::timer.
  explicit Waiter(Wait wait);
  /// One step of a wait.
  void wait();

 private:
  Wait wait_;
  Descriptor timer_;
};

}  // namespace eventloom
