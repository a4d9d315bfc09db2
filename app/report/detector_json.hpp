#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/report/group_counts.hpp"
#include "core/monitor/channel_counts.hpp"
#include "io/run_format/detector_record.hpp"

/// What status documents, of the monitor and of reports, say of the detector. Texts are as in the map.
namespace eventloom {

using DetectorJson = nlohmann::ordered_json;

/// Part "setup.detector": the map's file, its groups, how many channels are masked, cut, and have offsets; where it has
/// positions, them, or some of them where they are many.
DetectorJson detector_facts(const KnownChannels& known);

/// The names of the listed channels, "" for one without; null where none has one.
DetectorJson channel_names(const KnownChannels& known, const ChannelCounts::OfSource& of);

/// Part "groups". `unknown`: hits of which the channel is not known.
DetectorJson groups_json(const KnownChannels& known, const GroupHits& hits, std::uint64_t unknown);

/// [x, y, z] in metres; null where it is not known.
template <class Json>
Json position_json(const DetectorRange& range) {
  if (!range.has_position()) return {};
  return Json::array({range.position.x, range.position.y, range.position.z});
}

/// Adds to the arrays of an event's hits, of which `hits` has "source" and "channel": "name" where any of the channels
/// has one, "position" likewise, null for one without, and "group" where the detector has groups.
template <class Json>
void add_detector(Json& hits, const KnownChannels& known) {
  bool named = false;
  bool placed = false;
  auto names = Json::array();
  auto positions = Json::array();
  auto groups = Json::array();
  for (std::size_t i = 0; i < hits["source"].size(); ++i) {
    const auto* range = known.at(hits["source"][i], hits["channel"][i]);
    names.push_back(range == nullptr ? "" : range->name);
    groups.push_back(range == nullptr ? "" : range->groups);
    positions.push_back(range == nullptr ? Json() : position_json<Json>(*range));
    named = named || (range != nullptr && !range->name.empty());
    placed = placed || !positions.back().is_null();
  }
  if (named) hits["name"] = std::move(names);
  if (placed) hits["position"] = std::move(positions);
  if (!known.groups().empty()) hits["group"] = std::move(groups);
}

}  // namespace eventloom
