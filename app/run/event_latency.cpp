#include "app/run/event_latency.hpp"

#include <chrono>

namespace eventloom {

void EventLatency::add(const BuiltSlice& slice) {
  using std::chrono::nanoseconds;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<nanoseconds>(unix_time).count() - started_ns_;
  const double tick_ns = static_cast<double>(tick_ps_) / 1000;
  for (std::size_t i = 0; i < slice.events.size(); ++i) {
    if (slice.events.owned[i] == 0) continue;
    histogram_.add(static_cast<double>(now_ns) - static_cast<double>(slice.events.time[i]) * tick_ns);
  }
}

}  // namespace eventloom
