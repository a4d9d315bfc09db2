#include "core/engine/slot_clock.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Long enough for every rank to receive the start time in advance.
constexpr std::int64_t kStartAfterNs = 2'000'000;

/// Load on the host may disturb a synchronisation: it is repeated, at least once, within this time.
constexpr std::int64_t kTryForNs = 5'000'000'000;

std::string text_of(double ns) { return std::to_string(std::llround(std::ceil(ns))) + " ns"; }

}  // namespace

SlotClock::SlotClock(Network& network, std::uint64_t slot_ns, IdlePolicy& idle, ClockSync::Clock clock)
    : ranks_(network.ranks()),
      idle_(idle),
      clock_(std::move(clock)),
      sync_(network.open_channel(), ranks_.rank(), ranks_.size(), ClockSync::Settings{}, clock_) {
  const std::int64_t begin = clock_();
  double precision = 0;
  bool again = true;
  while (again) {
    sync_.synchronise(idle_);
    precision = ranks_.broadcast(sync_.precision_ns());
    if (precision <= static_cast<double>(slot_ns)) return;
    again = ranks_.broadcast(clock_() - begin < kTryForNs);
  }
  sync_.stop(idle_);
  leave_together();
  throw UserError("slots of " + text_of(static_cast<double>(slot_ns)) +
                  " are shorter than the precision of the ranks' clocks, " + text_of(precision) +
                  "; use longer slots, or no more ranks than cores");
}

void SlotClock::start() { start_ = ranks_.broadcast(sync_.global_ns() + kStartAfterNs); }

}  // namespace eventloom
