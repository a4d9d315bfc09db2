#pragma once

#include <cstdint>

#include "app/document/latency_histogram.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Age of events when they are built: the time since their first hit. The hit's time is by the clock of the source that
/// states the time of tick 0, the current time by the clock of this host.
class EventLatency {
 public:
  /// `started_ns`: Unix time of tick 0.
  EventLatency(std::int64_t started_ns, std::uint64_t tick_ps) : started_ns_(started_ns), tick_ps_(tick_ps) {}

  void add(const BuiltSlice& slice);
  [[nodiscard]] const LatencyHistogram& histogram() const { return histogram_; }

 private:
  std::int64_t started_ns_;
  std::uint64_t tick_ps_;
  LatencyHistogram histogram_;
};

}  // namespace eventloom
