#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/command/common_clock.hpp"
#include "app/tools/bench/duplexes.hpp"
#include "app/tools/bench/far_end.hpp"
#include "app/tools/bench/measured_times.hpp"

namespace eventloom {

struct PingPongSettings {
  std::string peer;                   ///< see duplex_names()
  Wait wait = Wait::poll;             ///< both ends wait this way
  int echo = 0;                       ///< rank of the far end; the near end is rank 0
  std::uint64_t count = 0;            ///< round trips
  std::uint64_t warm_up = 0;          ///< round trips before them
  std::chrono::nanoseconds pause{0};  ///< rank 0 sleeps this long before each message, except in the warm-up
  TimesKept kept;
};

/// The times of one measurement, complete on rank 0.
struct PingPongTimes {
  explicit PingPongTimes(TimesKept kept) : one_way(kept), round_trip(kept), completion(kept), warm_up(kept) {}

  MeasuredTimes one_way;  ///< ends when the far end has processed the message
  MeasuredTimes round_trip;
  MeasuredTimes completion;    ///< until the sender knows that the message has arrived; empty if it never does
  MeasuredTimes warm_up;       ///< round trips of the warm-up
  double cpu_seconds = 0;      ///< used by both ends during the round trips
  std::uint64_t messages = 0;  ///< both directions, without the warm-up
};

/// Collective. Sends `message` back and forth between rank 0 and the far end; then the same number of times with rank 0
/// waiting for the answer only once it knows that the message has arrived, if the peer reports that. The answer carries
/// the time at which the far end finished processing the message, so `message` has at least 8 bytes. `far` works on the
/// far end only.
PingPongTimes ping_pong(const PingPongSettings& settings, std::span<const std::byte> message, FarEnd& far,
                        CommonClock& clock, const Communicator& communicator);

}  // namespace eventloom
