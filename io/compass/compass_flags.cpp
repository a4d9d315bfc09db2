#include "io/compass/compass_flags.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "io/compass/compass_record.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kAlarms = kLostLock | kOverheated | kShutDown;
constexpr std::uint32_t kFakes = kFake | kAlarms;
constexpr std::uint32_t kSaturated = kSaturatedGate | kSaturatedInput;
constexpr std::uint32_t kAfterLoss = kDeadTime | kMemoryFull | kTriggerLost | kTriggersLost;

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 3> kFlagKinds = {
    {{"fake", kFakes}, {"saturated", kSaturated}, {"pileup", kPileUp}}};

}  // namespace

CompassFlags::CompassFlags(const SourceUri& uri) : dropped_(kFakes) {
  const auto list = uri.get("drop", "fake");
  if (list.empty() || list == "none") {
    dropped_ = 0;
    return;
  }
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    const auto name = std::string_view(list).substr(at, end - at);
    const auto* kind = kFlagKinds.begin();
    while (kind != kFlagKinds.end() && kind->first != name) ++kind;
    if (kind == kFlagKinds.end())
      uri.refuse("drop=" + list + " is not known; there are fake, saturated, pileup, and none");
    dropped_ |= kind->second;
    at = end + 1;
  }
}

void CompassFlags::count(std::uint32_t flags) {
  if ((flags & kFakes) != 0) ++counters_[Metric::fake_events];
  if ((flags & kSaturated) != 0) ++counters_[Metric::saturated_events];
  if ((flags & kPileUp) != 0) ++counters_[Metric::pile_up_events];
  if ((flags & kAfterLoss) != 0) ++counters_[Metric::events_after_loss];
  if ((flags & kAlarms) != 0) ++counters_[Metric::board_alarms];
}

const char* CompassFlags::alarm(std::uint32_t flags) {
  if ((flags & kLostLock) != 0) return "its clock has lost its lock: times are not to be relied on";
  if ((flags & kOverheated) != 0) return "it is too hot";
  if ((flags & kShutDown) != 0) return "its ADCs have been shut down";
  return nullptr;
}

}  // namespace eventloom
