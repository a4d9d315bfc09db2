#include "app/run/unused_channels.hpp"

#include <algorithm>

#include "app/command/safe_text.hpp"
#include "core/detector/channel_use.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/channel_text.hpp"

namespace eventloom {

namespace {

std::string text_of(const ChannelSelection& channels) {
  constexpr std::uint32_t kLastChannel = 0xfffffff;
  std::string text = channels.source.empty() ? "all sources" : "source " + channels.source;
  if (channels.low == 0 && channels.high == kLastChannel) return text;
  if (channels.low == channels.high)
    return text + fmt::format(", channel {} (0x{:x})", channel_text(channels.low), channels.low);
  return text + fmt::format(", channels {} to {} (0x{:x}-0x{:x})", channel_text(channels.low),
                            channel_text(channels.high), channels.low, channels.high);
}

/// Omits options whose whole group has no hits: the group is reported instead.
bool says_more(const Detector& detector, const GroupOption& option, GroupSet used) {
  const auto group = detector.group(option.name);
  return group && (used >> *group & 1U) != 0;
}

bool takes_out(const DetectorRow& row) { return row.mask.value_or(false) || row.min_payload || row.max_payload; }

}  // namespace

std::optional<UnusedChannels> unused_channels(const DetectorOptions& options, const RunSetup& setup,
                                              std::span<const std::uint64_t> seen, bool resumed) {
  const auto& detector = *setup.run.detector;
  const auto& map = options.map;
  const bool hits_are_gone = options.kept.corrected && std::ranges::any_of(map.rows, takes_out);
  if (detector.selections().empty() || hits_are_gone) return std::nullopt;
  ChannelUse use(detector);
  use.add(seen);
  const auto used = use.used_groups();
  UnusedChannels unused;
  unused.of_entries = detector.selections().size();
  unused.resumed = resumed;
  for (const auto i : use.unused_selections()) {
    if (i < map.rows.size()) {
      const auto& row = map.rows[i];
      unused.entries.push_back({map.place(row), row.line, text_of(row.channels)});
      continue;
    }
    const auto& option = options.groups.at(i - map.rows.size());
    if (says_more(detector, option, used))
      unused.entries.push_back({"--group " + option.text, 0, text_of(option.channels)});
  }
  for (std::size_t group = 0; group < detector.groups().size(); ++group) {
    if ((used >> group & 1U) == 0) unused.groups.push_back(detector.groups()[group]);
  }
  return unused;
}

void report_unused(const UnusedChannels& unused) {
  constexpr std::size_t kNamed = 3;
  const auto* since = unused.resumed ? " since the run was resumed" : "";
  std::string text;
  for (std::size_t i = 0; i < std::min(unused.entries.size(), kNamed); ++i) {
    const auto& entry = unused.entries[i];
    text += (i == 0 ? "" : "; ") + for_terminal(entry.place + ": " + entry.selects);
  }
  if (unused.entries.size() > kNamed) text += fmt::format("; and {} more", unused.entries.size() - kNamed);
  if (!text.empty()) {
    log::warn("{} of {} rows of --detector and --group selected no hit{}: {}", unused.entries.size(), unused.of_entries,
              since, text);
  }
  if (unused.groups.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(unused.groups.size(), 2 * kNamed); ++i) {
    names += (i == 0 ? "" : ", ") + for_terminal(unused.groups[i]);
  }
  if (unused.groups.size() > 2 * kNamed) names += fmt::format(", and {} more", unused.groups.size() - 2 * kNamed);
  log::warn("groups without a hit{}: {}", since, names);
}

Json to_json(const UnusedChannels& unused) {
  Json json{{"rows", unused.of_entries},
            {"rows_without_hits", Json::array()},
            {"groups_without_hits", unused.groups},
            {"since_resume", unused.resumed}};
  for (const auto& entry : unused.entries) {
    json["rows_without_hits"].push_back({{"place", entry.place}, {"line", entry.line}, {"selects", entry.selects}});
  }
  return json;
}

}  // namespace eventloom
