#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/document/detector_names.hpp"
#include "app/document/payload_numbers.hpp"
#include "core/runtime/format.hpp"
#include "formats/duration_text.hpp"
#include "io/run_format/detector_record.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Meaning of the rows of an event picture.
enum class ShowRows { sources, channels };

/// An event and what is needed to show it.
struct EventView {
  const RunRecord* record = nullptr;
  OutputEvent event;
  std::uint64_t number = 0;  ///< index in time order, from 0
  std::uint64_t of = 0;      ///< number of events in the run
  ShowRows rows = ShowRows::sources;
  KnownChannels known = {};  ///< channels of the run's detector
  PayloadNumbers numbers = {};

  [[nodiscard]] std::string time_text(Tick ticks) const {
    return record->numbered ? std::to_string(ticks.value) : duration_text(ticks, record->base.tick_ps);
  }
  /// Returns the UTC of a tick; std::nullopt if that of tick 0 is unknown.
  [[nodiscard]] std::optional<std::string> utc_of(Tick tick) const { return utc_of_tick(*record, tick); }
  /// Returns the value of a hit with its decimals; empty without one. Its unit follows unless all hits have the same
  /// and `with_common_unit` is false. Not safe for a terminal or XML.
  [[nodiscard]] std::string value_text(const OutputHit& hit, bool with_common_unit) const {
    if (!hit.value || std::isnan(*hit.value)) return {};
    const auto* range = known.at(hit.source, hit.channel);
    const auto& common = record->hits.value_unit;
    const auto unit = !common.empty() ? (with_common_unit ? common : "") : range == nullptr ? "" : range->unit;
    return fmt::format("{:.6g}{}{}", *hit.value, unit.empty() ? "" : " ", unit);
  }
  /// Returns the name of the source in the detector map, or else its own name. Not safe for a terminal or XML.
  [[nodiscard]] std::string source_name(std::uint16_t source) const {
    if (auto label = source_label(known, source); !label.empty()) return label;
    return source < record->sources.size() ? record->sources[source].name : std::string("unknown");
  }
};

/// One row of the picture: a source (`channel` is 0), or a channel of a source.
struct PictureRow {
  std::uint16_t source = 0;
  std::uint32_t channel = 0;
  std::vector<const OutputHit*> hits;
};

/// Returns the rows that have hits, ordered by source and channel.
inline std::vector<PictureRow> picture_rows(const EventView& view) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, PictureRow> rows;
  for (const auto& hit : view.event.hits) {
    const auto channel = view.rows == ShowRows::channels ? hit.channel : 0;
    auto& row = rows[{hit.source, channel}];
    row.source = hit.source;
    row.channel = channel;
    row.hits.push_back(&hit);
  }
  std::vector<PictureRow> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

/// Returns the position of the hit within the event's duration, 0 to 1.
inline double place_in_event(const OutputEvent& event, const OutputHit& hit) {
  const auto since = hit.time < event.time ? 0 : hit.time - event.time;
  return event.duration == 0 ? 0 : std::min(1.0, static_cast<double>(since) / static_cast<double>(event.duration));
}

}  // namespace eventloom
