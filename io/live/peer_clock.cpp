#include "io/live/peer_clock.hpp"

#include <algorithm>
#include <chrono>

namespace eventloom {

void PeerClock::measure(std::int64_t started_ns, Epoch data_end, const TimeBase& base) {
  if (started_ns == 0 || data_end == 0) return;
  using std::chrono::nanoseconds;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const double epoch_ns = static_cast<double>(base.tick_ps) * base.epoch_ticks / 1000;
  const auto since_start = std::chrono::duration_cast<nanoseconds>(unix_time).count() - started_ns;
  const double behind_ns = static_cast<double>(since_start) - static_cast<double>(data_end) * epoch_ns;
  if (behind_ns_ && static_cast<double>(*behind_ns_) <= behind_ns) return;
  behind_ns_ = static_cast<std::int64_t>(std::clamp(behind_ns, -0x1p62, 0x1p62));
}

}  // namespace eventloom
