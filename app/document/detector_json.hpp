#pragma once

#include <cstdint>
#include <optional>

#include "app/document/group_counts.hpp"
#include "core/monitor/channel_counts.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/detector_record.hpp"

/// Detector data in status documents, those of the monitor and those of reports. Texts are as in the map.
namespace eventloom {

/// Returns the part "setup.detector": the map's file, its groups, the numbers of channels that are masked, are cut and
/// have offsets, the known positions, thinned out if there are many, and the names of single channels.
Json detector_facts(const KnownChannels& known);

/// Returns the names of the listed channels, "" for a channel without one; null if none has a name.
Json channel_names(const KnownChannels& known, const ChannelCounts::OfSource& of);

/// Returns the part "groups". `unknown`: number of hits whose channel is unknown.
Json groups_json(const KnownChannels& known, const GroupHits& hits, std::uint64_t unknown);

/// Returns [x, y, z] in metres; null if unknown.
template <class Json>
Json position_json(const DetectorRange& range) {
  if (!range.has_position()) return {};
  return Json::array({range.position.x, range.position.y, range.position.z});
}

/// Adds arrays to the hits of an event, which must contain "source" and "channel": "name" if any of the channels has
/// one, "position" if any has one (null for the others), "group" if the detector has groups, and beside values their
/// "unit".
template <class Json>
void add_detector(Json& hits, const KnownChannels& known) {
  bool named = false;
  bool placed = false;
  auto names = Json::array();
  auto positions = Json::array();
  auto groups = Json::array();
  auto units = Json::array();
  for (std::size_t i = 0; i < hits["source"].size(); ++i) {
    const auto* range = known.at(hits["source"][i], hits["channel"][i]);
    names.push_back(range == nullptr ? "" : range->name);
    groups.push_back(range == nullptr ? "" : range->groups);
    units.push_back(range == nullptr ? "" : range->unit);
    positions.push_back(range == nullptr ? Json() : position_json<Json>(*range));
    named = named || (range != nullptr && !range->name.empty());
    placed = placed || !positions.back().is_null();
  }
  if (named) hits["name"] = std::move(names);
  if (placed) hits["position"] = std::move(positions);
  if (hits.contains("value")) hits["unit"] = std::move(units);
  if (!known.groups().empty()) hits["group"] = std::move(groups);
}

}  // namespace eventloom
