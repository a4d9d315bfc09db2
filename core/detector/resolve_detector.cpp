#include "core/detector/resolve_detector.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

/// Maximum pieces of channels of all sources together: each needs some 100 bytes.
constexpr std::size_t kMostPieces = std::size_t{4} << 20;
/// Offsets are bounded so that sums with times do not overflow.
constexpr Tick kMostOffset(std::uint64_t{1} << 60);
/// Dead times are bounded likewise; longer ones do not fit a slice.
constexpr Tick kMostDeadTime(std::uint64_t{1} << 32);

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Parses "3" or "3-5".
std::optional<std::pair<std::uint64_t, std::uint64_t>> numbers_in(std::string_view text) {
  const auto dash = text.find('-');
  const auto low = number_in(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : number_in(text.substr(dash + 1));
  if (!low || !high) return std::nullopt;
  return std::pair{*low, *high};
}

std::string_view last_component(std::string_view name) { return name.substr(name.rfind('/') + 1); }

bool is_named(const std::string& name, const std::string& text) {
  return name == text || (name.ends_with(text) && name[name.size() - text.size() - 1] == '/');
}

bool matches(const std::string& name, const std::string& glob) {
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
         fnmatch(glob.c_str(), std::string(last_component(name)).c_str(), 0) == 0;
}

using Numbers = std::vector<std::uint16_t>;

template <class Select>
Numbers all_where(const std::vector<std::string>& names, Select select) {
  Numbers found;
  for (std::size_t s = 0; s < names.size(); ++s) {
    if (select(s, names[s])) found.push_back(static_cast<std::uint16_t>(s));
  }
  return found;
}

/// `place`: description of the selection, for messages.
Numbers required_sources(const ChannelSelection& channels, const std::string& place, const DetectorSources& sources) {
  auto found = selected_sources(channels.source, sources.names);
  if (!found.empty()) return found;
  std::vector<std::string_view> names;
  for (const auto& name : sources.names) names.push_back(last_component(name));
  throw UserError(place + "column source: '" + channels.source + "' selects none of the " +
                  std::to_string(sources.names.size()) + " sources" + did_you_mean(channels.source, names));
}

/// The changes of a row, with its offset in ticks and the numbers of its groups.
struct Change {
  Numbers sources;
  const DetectorRow* row = nullptr;
  std::optional<std::int64_t> offset;
  std::optional<Tick> dead_time;
  GroupSet groups = 0;

  void apply(ChannelInfo& info) const {
    if (offset) info.offset = *offset;
    if (dead_time) info.dead_time = *dead_time;
    if (row->mask) info.masked = *row->mask;
    if (row->min_payload) info.min_payload = *row->min_payload;
    if (row->max_payload) info.max_payload = *row->max_payload;
    info.cut = info.cut || row->min_payload || row->max_payload;
    calibrate(info);
    if (row->groups) info.groups = groups;
    if (row->name) info.name = *row->name;
    if (!row->x && !row->y && !row->z) return;
    if (!info.position) info.position.emplace();
    info.position->x = row->x.value_or(info.position->x);
    info.position->y = row->y.value_or(info.position->y);
    info.position->z = row->z.value_or(info.position->z);
  }

  void calibrate(ChannelInfo& info) const {
    info.calibration.gain = row->gain.value_or(info.calibration.gain);
    info.calibration.zero = row->zero.value_or(info.calibration.zero);
    info.calibrated = info.calibrated || row->gain || row->zero;
    if (row->unit) info.unit = *row->unit;
  }
};

/// Returns std::nullopt if it does not fit.
std::optional<Tick> size_of(const OffsetText& offset, std::uint64_t tick_ps) {
  const bool in_ticks = offset.unit_ps == 0;
  const auto ticks =
      to_ticks(offset.size, Decimal{in_ticks ? 1 : offset.unit_ps, 0}, in_ticks ? 1 : tick_ps, Rounding::nearest);
  return ticks && *ticks <= kMostOffset ? ticks : std::nullopt;
}

std::int64_t ticks_of(const OffsetText& offset, const std::string& place, const DetectorSources& sources) {
  if (sources.numbered && offset.unit_ps != 0) {
    throw UserError(place + "column offset: the times of the sources are event numbers: use a column offset_ticks");
  }
  const auto ticks = size_of(offset, sources.tick_ps);
  if (!ticks) throw UserError(place + "column offset: it is longer than 2^60 ticks");
  const auto size = static_cast<std::int64_t>(*ticks);
  return offset.negative ? -size : size;
}

constexpr const char* kNumbersHaveNone = "the times of the sources are event numbers, which have no dead time";

Tick dead_ticks_of(const OffsetText& length, const std::string& place, const DetectorSources& sources) {
  if (sources.numbered) throw UserError(place + "column dead_time: " + kNumbersHaveNone);
  const auto ticks =
      length.unit_ps == 0 ? to_ticks(length.size, 1, 1) : to_ticks(length.size, length.unit_ps, sources.tick_ps);
  if (!ticks || *ticks > kMostDeadTime) {
    throw UserError(place + "column dead_time: expected a whole number of ticks, which are " +
                    duration_text(1, sources.tick_ps) + " long, of at most 2^32");
  }
  return *ticks;
}

Tick dead_ticks_of(const DeadTimeOption& option, std::uint64_t tick_ps) {
  const auto place = name_of(Setting::dead_time) + " " + option.text + ": ";
  try {
    const Tick ticks = parse_duration(option.length, tick_ps);
    if (ticks <= kMostDeadTime) return ticks;
  } catch (const std::invalid_argument& e) {
    throw UserError(place + e.what());
  }
  throw UserError(place + "it is longer than 2^32 ticks");
}

/// The groups of an option; std::nullopt: all channels.
std::optional<GroupSet> groups_of(const DeadTimeOption& option, const Detector& detector) {
  if (option.group.empty()) return std::nullopt;
  if (const auto number = detector.group(option.group)) return GroupSet{1} << *number;
  const std::vector<std::string_view> known(detector.groups().begin(), detector.groups().end());
  throw UserError(name_of(Setting::dead_time) + " " + option.text + ": there is no group '" + option.group + "'" +
                  did_you_mean(option.group, known) + "; groups come from " + name_of(Setting::group) + " or " +
                  name_of(Setting::detector));
}

/// An option --dead-time in ticks.
struct GivenDeadTime {
  const DeadTimeOption* option = nullptr;
  std::optional<GroupSet> groups;  ///< std::nullopt: all channels
  Tick dead = 0;

  [[nodiscard]] bool covers(const ChannelInfo& info) const { return !groups || (info.groups & *groups) != 0; }
};

[[noreturn]] void refuse_two(const GivenDeadTime& first, const GivenDeadTime& other, const std::string& both_for) {
  const auto option = [](const GivenDeadTime& of) { return name_of(Setting::dead_time) + " " + of.option->text; };
  throw UserError(option(other) + " contradicts " + option(first) + ": both are for " + both_for);
}

/// Throws UserError if two of the options, all of groups or none, give a channel different dead times.
void require_one_dead_time(std::span<const GivenDeadTime> given, const DetectorSources& sources,
                           const Detector& detector) {
  for (const auto& other : given) {
    if (!other.groups && other.dead != given.front().dead) refuse_two(given.front(), other, "all channels");
  }
  for (std::size_t s = 0; s < detector.sources(); ++s) {
    detector.visit(static_cast<std::uint16_t>(s), [&](std::uint32_t low, const ChannelInfo& info) {
      const GivenDeadTime* first = nullptr;
      for (const auto& other : given) {
        if (!other.covers(info)) continue;
        if (first == nullptr) first = &other;
        if (first->dead == other.dead) continue;
        refuse_two(
            *first, other,
            "channel " + std::to_string(low) + " of source " + std::to_string(s) + " (" + sources.names[s] + ")");
      }
    });
  }
}

std::size_t number_of_group(Detector& detector, const std::string& name, const std::string& place) {
  try {
    return detector.add_group(name);
  } catch (const std::length_error& e) {
    throw UserError(place + e.what());
  }
}

GroupSet groups_of(Detector& detector, const std::vector<std::string>& names, const std::string& place) {
  GroupSet set = 0;
  for (const auto& name : names) set |= GroupSet{1} << number_of_group(detector, name, place);
  return set;
}

std::string place_of(const DetectorMap& map, const DetectorRow& row) { return map.place(row) + ": "; }
std::string place_of(const GroupOption& group) { return name_of(Setting::group) + " " + group.text + ": "; }

void add_names(Detector& detector, const DetectorMap& map, std::span<const GroupOption> groups) {
  for (const auto& row : map.rows) {
    if (row.groups) groups_of(detector, *row.groups, place_of(map, row));
  }
  for (const auto& group : groups) number_of_group(detector, group.name, place_of(group));
}

/// Divides each source at the channels where something may change.
void divide(Detector& detector, const std::vector<Change>& changes) {
  std::vector<std::vector<std::uint32_t>> lows(detector.sources());
  std::size_t pieces = 0;
  for (const auto& change : changes) {
    pieces += 2 * change.sources.size();
    if (pieces > kMostPieces)
      throw UserError("a detector map of more than " + std::to_string(kMostPieces / 2) + " ranges of channels");
    for (const auto source : change.sources) {
      lows[source].push_back(change.row->channels.low);
      lows[source].push_back(change.row->channels.high + 1);
    }
  }
  for (std::size_t s = 0; s < lows.size(); ++s) {
    if (lows[s].empty()) continue;
    std::ranges::sort(lows[s]);
    detector.divide(static_cast<std::uint16_t>(s), lows[s]);
  }
}

}  // namespace

std::vector<std::uint16_t> selected_sources(const std::string& text, const std::vector<std::string>& names) {
  if (text.empty()) return all_where(names, [](auto, const auto&) { return true; });
  if (const auto range = numbers_in(text)) {
    return all_where(names, [&](std::size_t s, const auto&) { return range->first <= s && s <= range->second; });
  }
  auto found = all_where(names, [&](auto, const std::string& name) { return is_named(name, text); });
  if (!found.empty()) return found;
  return all_where(names, [&](auto, const std::string& name) { return matches(name, text); });
}

Detector named_groups(const DetectorMap& map, std::span<const GroupOption> groups) {
  Detector detector;
  add_names(detector, map, groups);
  return detector;
}

Tick largest_offset(const DetectorMap& map, std::uint64_t tick_ps) {
  Tick largest = 0;
  for (const auto& row : map.rows) {
    if (row.offset) largest = std::max(largest, size_of(*row.offset, tick_ps).value_or(Tick(0)));
  }
  return largest;
}

Tick longest_dead_time(const DetectorMap& map, std::span<const DeadTimeOption> options, std::uint64_t tick_ps) {
  Tick longest = 0;
  for (const auto& row : map.rows) {
    if (row.dead_time) longest = std::max(longest, size_of(*row.dead_time, tick_ps).value_or(Tick(0)));
  }
  for (const auto& option : options) longest = std::max(longest, dead_ticks_of(option, tick_ps));
  return longest;
}

void apply_dead_times(std::span<const DeadTimeOption> options, const DetectorSources& sources, Detector& detector) {
  std::vector<GivenDeadTime> of_all;
  std::vector<GivenDeadTime> of_groups;
  for (const auto& option : options) {
    if (sources.numbered) throw UserError(name_of(Setting::dead_time) + " " + option.text + ": " + kNumbersHaveNone);
    const GivenDeadTime given{&option, groups_of(option, detector), dead_ticks_of(option, sources.tick_ps)};
    (given.groups ? of_groups : of_all).push_back(given);
  }
  for (const auto& given : {of_all, of_groups}) {
    require_one_dead_time(given, sources, detector);
    for (std::size_t s = 0; s < detector.sources(); ++s) {
      detector.change({.source = static_cast<std::uint16_t>(s)}, [&](ChannelInfo& info) {
        const auto found = std::ranges::find_if(given, [&](const auto& of) { return of.covers(info); });
        if (found != given.end()) info.dead_time = found->dead;
      });
    }
  }
}

Detector resolve_detector(const DetectorMap& map, std::span<const GroupOption> groups, const DetectorSources& sources) {
  Detector detector(sources.names.size());
  add_names(detector, map, groups);
  std::vector<Change> changes;
  for (const auto& row : map.rows) {
    const auto place = place_of(map, row);
    Change change{required_sources(row.channels, place, sources), &row, {}, {}, 0};
    if (row.offset) change.offset = ticks_of(*row.offset, place, sources);
    if (row.dead_time) change.dead_time = dead_ticks_of(*row.dead_time, place, sources);
    if (row.groups) change.groups = groups_of(detector, *row.groups, place);
    changes.push_back(std::move(change));
  }
  divide(detector, changes);
  for (const auto& change : changes) {
    const auto& channels = change.row->channels;
    for (const auto source : change.sources) {
      detector.change({source, channels.low, channels.high}, [&](ChannelInfo& info) { change.apply(info); });
    }
    detector.add_selection({change.sources, channels.low, channels.high});
  }
  for (const auto& group : groups) {
    const auto set = GroupSet{1} << number_of_group(detector, group.name, place_of(group));
    const auto& channels = group.channels;
    auto selected = required_sources(channels, place_of(group), sources);
    for (const auto source : selected) {
      detector.change({source, channels.low, channels.high}, [&](ChannelInfo& info) { info.groups |= set; });
    }
    detector.add_selection({std::move(selected), channels.low, channels.high});
  }
  return detector;
}

}  // namespace eventloom
