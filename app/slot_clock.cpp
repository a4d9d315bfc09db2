#include "app/slot_clock.hpp"

#include <cmath>
#include <string>

#include "core/control/agreement.hpp"
#include "core/mpi/mpi_message_channel.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Enough for every rank to hear of the start before it comes.
constexpr std::int64_t kStartAfterNs = 2'000'000;

/// On a busy host a single comparison may be disturbed throughout: others follow, one at least, within this time.
constexpr std::int64_t kTryForNs = 5'000'000'000;

std::string text_of(double ns) { return std::to_string(std::llround(std::ceil(ns))) + " ns"; }

}  // namespace

SlotClock::SlotClock(const Communicator& communicator, std::uint64_t slot_ns)
    : communicator_(communicator),
      sync_(std::make_unique<MpiMessageChannel>(communicator), communicator.rank(), communicator.size(),
            ClockSync::Settings{}) {
  const std::int64_t begin = steady_ns();
  double precision = 0;
  bool goes_on = true;
  while (goes_on) {
    sync_.synchronise();
    precision = communicator.broadcast(sync_.precision_ns());
    if (precision <= static_cast<double>(slot_ns)) return;
    goes_on = communicator.broadcast(steady_ns() - begin < kTryForNs);
  }
  sync_.stop();
  leave_together();
  throw UserError("slots of " + text_of(static_cast<double>(slot_ns)) + " are finer than the ranks' clocks agree, " +
                  text_of(precision) + "; use longer slots, or as many ranks as there are cores");
}

nlohmann::json to_json(const std::vector<ClockQuality>& clocks) {
  auto json = nlohmann::json::array();
  for (const auto& clock : clocks) {
    json.push_back({{"offset_ns", clock.offset_ns},
                    {"rate_ppm", clock.rate_ppm},
                    {"residual_ns", clock.residual_ns},
                    {"precision_ns", clock.precision_ns},
                    {"round_trips", clock.round_trips}});
  }
  return json;
}

void SlotClock::start() { start_ = communicator_.broadcast(sync_.global_ns() + kStartAfterNs); }

}  // namespace eventloom
