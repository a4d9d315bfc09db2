#include "app/tools/doctor/clock_check.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "app/command/common_clock.hpp"
#include "app/document/json_message.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

std::int64_t day_time_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns the offset of the time of day from the common clock, from the closest of several readings of both.
std::int64_t offset_to(CommonClock& common) {
  constexpr int kReadings = 20;
  auto closest = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset = 0;
  for (int i = 0; i < kReadings; ++i) {
    const auto before = common.now();
    const auto day = day_time_ns();
    const auto after = common.now();
    if (after - before >= closest) continue;
    closest = after - before;
    offset = day - before - closest / 2;
  }
  return offset;
}

}  // namespace

Finding clock_finding(const std::vector<DayTime>& times, double precision_ns) {
  constexpr double kMost = 1e6;
  Finding finding{.subject = "clocks", .what = "one host: nothing to compare"};
  std::set<std::string> hosts;
  for (const auto& time : times) hosts.insert(time.host);
  if (hosts.size() <= 1) return finding;
  const auto [least, most] = std::ranges::minmax(times, {}, &DayTime::offset_ns);
  const auto apart = most.offset_ns - least.offset_ns;
  finding.what = fmt::format("the hosts' times of day agree within {:.3g} ms, measured to {:.2g} ms", apart / 1e6,
                             precision_ns / 1e6);
  if (apart <= kMost + precision_ns) return finding;
  finding.level = FindingLevel::warning;
  finding.what = fmt::format("the time of day on {} is {:.3g} ms ahead of {}", most.host, apart / 1e6, least.host);
  finding.meaning = "latencies and times in UTC that ranks of different hosts state are wrong by as much";
  finding.fix = "timedatectl set-ntp true";
  return finding;
}

Finding check_clocks(const Communicator& communicator) {
  CommonClock common(communicator);
  const auto all = communicator.all_gather(offset_to(common));
  const auto hosts = communicator.all_gather(host_name());
  // Subtracts in integer nanoseconds first: a double cannot hold all digits of the time of day.
  std::vector<DayTime> times;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    times.push_back({hosts[rank], static_cast<double>(all[rank] - all.front())});
  }
  return clock_finding(times, common.precision_ns());
}

}  // namespace eventloom
