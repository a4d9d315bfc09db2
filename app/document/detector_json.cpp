#include "app/document/detector_json.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/document/detector_names.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kLastOfAll = 0xfffffff;  // the greatest channel number

/// A page requests them once a second.
constexpr std::size_t kMostNames = 1000;

/// Enough to show the shape of a detector; a page requests them once a second.
constexpr std::size_t kMostPlaces = 1000;

/// Counts channels individually. For sources with an open range (all channels, or all from some number on),
/// counts the source.
template <class Has>
Json count_channels(const KnownChannels& known, Has has) {
  struct OfSource {
    std::uint64_t channels = 0;
    std::uint64_t open = 0;  ///< channels of open ranges
  };
  std::map<std::uint32_t, OfSource> sources;
  for (const auto& range : known.ranges()) {
    if (!has(range) || range.last_channel < range.first_channel) continue;
    auto& of = sources[range.source];
    (range.last_channel >= kLastOfAll ? of.open : of.channels) += range.last_channel - range.first_channel + 1;
  }
  std::uint64_t channels = 0;
  std::uint64_t open = 0;
  for (const auto& [source, of] : sources) {
    if (of.channels + of.open <= kLastOfAll) channels += of.channels;
    if (of.open != 0) ++open;
  }
  return {{"channels", channels}, {"open", open}};
}

/// Channels at the same position count as one.
Json positions_json(const KnownChannels& known) {
  std::set<std::array<double, 3>> places;
  for (const auto& range : known.ranges()) {
    const auto& p = range.position;
    if (range.has_position()) places.insert({p.x, p.y, p.z});
  }
  const auto every = places.size() / kMostPlaces + 1;
  auto list = Json::array();
  std::size_t n = 0;
  for (const auto& place : places) {
    if (n++ % every == 0) list.push_back(place);
  }
  return list;
}

/// [number, name] of single channels.
Json names_json(const KnownChannels& known) {
  auto list = Json::array();
  for (const auto& [channel, name] : common_channel_names(known)) {
    if (list.size() < kMostNames) list.push_back({channel, name});
  }
  return list;
}

}  // namespace

Json detector_facts(const KnownChannels& known) {
  Json facts{{"file", known.file()},
             {"groups", known.groups()},
             {"masked", count_channels(known, [](const DetectorRange& r) { return r.masked; })},
             {"cut", count_channels(known, [](const DetectorRange& r) { return r.cut(); })},
             {"with_offset", count_channels(known, [](const DetectorRange& r) { return r.offset != 0; })}};
  if (auto positions = positions_json(known); !positions.empty()) facts["positions"] = std::move(positions);
  if (auto names = names_json(known); !names.empty()) facts["names"] = std::move(names);
  return facts;
}

Json channel_names(const KnownChannels& known, const ChannelCounts::OfSource& of) {
  auto names = Json::array();
  bool any = false;
  for (const auto& [channel, hits] : of.channels) {
    const auto& name = known.name_of(of.source, channel);
    any = any || !name.empty();
    names.push_back(name);
  }
  return any ? names : Json();
}

Json groups_json(const KnownChannels& known, const GroupHits& hits, std::uint64_t unknown) {
  return {{"name", known.groups()}, {"hits", hits.of_group}, {"none", hits.of_none}, {"unknown", unknown}};
}

}  // namespace eventloom
