#include "io/epochs/inspect_epochs.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "io/epochs/epochs_report.hpp"

namespace eventloom {

namespace {

Json to_json(const Damage& damage) {
  Json json{{"offset", damage.file_offset}, {"first_epoch", damage.first_epoch.value}};
  const bool breaks_off = damage.first_epoch + damage.n_epochs == std::numeric_limits<Epoch>::max();
  if (breaks_off) {
    json["until"] = "the end";
  } else {
    json["epochs"] = damage.n_epochs.value;
  }
  json["hits"] = damage.n_hits;
  json["cause"] = kDropCauseNames[static_cast<std::size_t>(damage.cause)];
  return json;
}

Json payload_words_to_json(std::uint8_t n) {
  return n == PayloadTable::kLengthInFirstWord ? Json("length in first word") : Json(n);
}

/// One entry per system with payload, or a single entry if all systems are alike.
Json payload_to_json(const PayloadTable& table) {
  Json systems = Json::object();
  if (table.any() && table == PayloadTable::uniform(table.words[0])) {
    systems["all"] = payload_words_to_json(table.words[0]);
    return systems;
  }
  for (std::size_t i = 0; i < table.words.size(); ++i) {
    if (table.words[i] > 0) systems[std::to_string(i)] = payload_words_to_json(table.words[i]);
  }
  return systems;
}

/// Names and types of the payload columns; nothing if they have no names and are whole numbers from 0.
Json columns_to_json(const StreamHeader& header) {
  Json list = Json::array();
  const auto& names = header.payload_names;
  const auto typed = [&](std::size_t i) { return payload_kind(header.flags, i) != PayloadKind::u32; };
  for (std::size_t i = 0; i < std::max(names.size(), kTypedColumns); ++i) {
    if (i < names.size() || typed(i))
      list.push_back({{"name", i < names.size() ? names[i] : ""}, {"type", name_of(payload_kind(header.flags, i))}});
  }
  return list;
}

/// The flags that describe the times and payload of a stream, as text.
Json flags_to_json(std::uint32_t flags) {
  Json list = Json::array();
  if ((flags & kNumbered) != 0) list.push_back("times are event numbers");
  if ((flags & kTriggerInPayload) != 0) list.push_back("trigger type in the second payload word");
  if ((flags & kOptional) != 0) list.push_back("events may lack the source");
  if (tag_word(flags) != 0) list.push_back("tag in payload word " + std::to_string(tag_word(flags)));
  if ((flags & kSorted) != 0) list.push_back("time-sorted hits of several sources");
  return list;
}

Json to_json(const RecordedHit& hit) {
  Json json{{"time", hit.time.value}, {"channel", hit.channel}};
  if (!hit.payload.empty()) json["payload"] = hit.payload;
  return json;
}

template <class Items>
Json list_to_json(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

Json inspect_epochs(const SourceUri& uri, std::uint64_t n_hits, std::optional<std::uint64_t> tick_ps) {
  const auto report = read_epochs_report(uri.path(), n_hits);
  const auto recorded = report.header.base.tick_ps;
  if (tick_ps.value_or(recorded) != recorded) {
    throw UserError("'" + uri.path() + "' was recorded with ticks of " + std::to_string(recorded) +
                    " ps; omit --tick, or give this value");
  }
  Json json{{"file", uri.path()},
            {"kind", "epochs"},
            {"damaged", report.damaged()},
            {"file_bytes", report.file_bytes},
            {"source", report.header.source},
            {"tick_ps", report.header.base.tick_ps},
            {"epoch_ticks", report.header.base.epoch_ticks},
            {"payload_words_by_system", payload_to_json(report.header.payload)},
            {"payload_columns", columns_to_json(report.header)},
            {"text", report.header.text},
            {"flags", flags_to_json(report.header.flags)},
            {"peaks", report.others[OtherMarker::peak]},
            {"event_tags", report.others[OtherMarker::tag]},
            {"histograms", report.others[OtherMarker::histogram]},
            {"schedules", report.others[OtherMarker::schedule]},
            {"index", report.index},
            {"buffers", report.buffers},
            {"words", report.words},
            {"hits", report.hits},
            {"payload_words", report.payload_words},
            {"first_tick", report.first_tick.value},
            {"last_tick", report.last_tick.value},
            {"first_epoch", report.epochs.begin.value},
            {"end_epoch", report.epochs.end.value},
            {"gaps", report.gaps},
            {"epochs_in_gaps", report.epochs_in_gaps.value},
            {"anomalies", report.anomalies},
            {"damage", list_to_json(report.damage)},
            {"problems", report.problems}};
  if (n_hits > 0) json["first_events"] = list_to_json(report.first_hits);
  return json;
}

}  // namespace eventloom
