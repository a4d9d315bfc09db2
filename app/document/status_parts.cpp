#include "app/document/status_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/document/detector_json.hpp"
#include "formats/event.hpp"

namespace eventloom {

Json counter_json(const MetricInfo& metric, std::uint64_t value) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"help", metric.help},
          {"value", value},
          {"trouble", metric.trouble}};
}

Json ledger_json(const Counters& totals, CausesShown causes, bool balances) {
  Json json;
  totals.put_into(json, {Metric::hits_in, Metric::hits_in_events, Metric::hits_outside, Metric::hits_rejected});
  json["dropped"] = Json::object();
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto hits = totals[dropped_hits(static_cast<DropCause>(i))];
    if (causes == CausesShown::all || hits != 0) json["dropped"][std::string(kDropCauseNames[i])] = hits;
  }
  json["lost"] = hits_lost(totals);
  json["balances"] = balances;
  totals.put_into(json, {Metric::slices, Metric::incomplete_slices, Metric::events, Metric::events_truncated,
                         Metric::events_incomplete});
  return json;
}

Json channels_json(const KnownChannels& known, const std::vector<ChannelCounts::OfSource>& sources) {
  auto list = Json::array();
  for (const auto& of : sources) {
    Json item{{"source", of.source}, {"channel", Json::array()}, {"hits", Json::array()}, {"others", of.others}};
    for (const auto& [channel, hits] : of.channels) {
      item["channel"].push_back(channel);
      item["hits"].push_back(hits);
    }
    if (auto names = channel_names(known, of); !names.is_null()) item["name"] = std::move(names);
    list.push_back(std::move(item));
  }
  return list;
}

bool has_words(const ShownEvent& event) {
  const auto has_word = [](const ShownEvent::Hit& hit) { return hit.payload.has_value(); };
  const auto has_value = [](const ShownEvent::Hit& hit) { return hit.value.has_value(); };
  return event.with_payload &&
         (std::ranges::any_of(event.hits, has_word) || std::ranges::none_of(event.hits, has_value));
}

Json to_json(const ShownEvent& event, double tick_ns, const KnownChannels& known) {
  auto flags = Json::array();
  if ((event.flags & kTruncated) != 0) flags.push_back("truncated");
  if ((event.flags & kIncomplete) != 0) flags.push_back("incomplete");
  if ((event.flags & kTagError) != 0) flags.push_back("tag_error");
  Json hits{{"dt_ns", Json::array()}, {"source", Json::array()}, {"channel", Json::array()}};
  for (const auto& hit : event.hits) {
    hits["dt_ns"].push_back(static_cast<double>(hit.since_first) * tick_ns);
    hits["source"].push_back(hit.source);
    hits["channel"].push_back(hit.channel);
    if (event.with_values) hits["value"].push_back(hit.value ? Json(*hit.value) : Json());
    if (event.with_payload) hits["payload"].push_back(hit.payload ? Json(*hit.payload) : Json());
  }
  add_detector(hits, known);
  return {{"time", std::to_string(event.time.value)},
          {"duration_ns", static_cast<double>(event.duration) * tick_ns},
          {"n_hits", event.n_hits},
          {"slice", event.slice},
          {"flags", flags},
          {"truncated", event.hits.size() < event.n_hits},
          {"hits", hits}};
}

}  // namespace eventloom
