#include "app/document/detector_names.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

namespace eventloom {

namespace {

constexpr std::uint64_t kAllChannels = 0x10000000;

/// The text that all ranges have; empty if they differ.
std::string common_text(std::span<const DetectorRange> ranges, std::string DetectorRange::*text) {
  const auto& first = ranges.front().*text;
  const auto same = [&](const DetectorRange& range) { return range.*text == first; };
  return std::ranges::all_of(ranges, same) ? first : std::string();
}

}  // namespace

std::string source_label(const KnownChannels& known, std::uint32_t source) {
  const auto begin = std::ranges::lower_bound(known.ranges(), source, {}, &DetectorRange::source);
  const auto end = std::ranges::upper_bound(known.ranges(), source, {}, &DetectorRange::source);
  if (begin == end) return {};
  const std::span<const DetectorRange> ranges(begin, end);
  std::uint64_t channels = 0;
  for (const auto& range : ranges) channels += std::uint64_t{range.last_channel} - range.first_channel + 1;
  if (channels < kAllChannels) return {};
  auto name = common_text(ranges, &DetectorRange::name);
  return name.empty() ? common_text(ranges, &DetectorRange::groups) : name;
}

ChannelNames common_channel_names(const KnownChannels& known) {
  ChannelNames names;
  std::set<std::uint32_t> differ;
  for (const auto& range : known.ranges()) {
    if (range.name.empty() || range.first_channel != range.last_channel) continue;
    const auto [at, added] = names.emplace(range.first_channel, range.name);
    if (!added && at->second != range.name) differ.insert(range.first_channel);
  }
  for (const auto channel : differ) names.erase(channel);
  return names;
}

}  // namespace eventloom
