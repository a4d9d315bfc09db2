#include "io/run_format/totals_json.hpp"

#include "core/runtime/json.hpp"

namespace eventloom {

namespace {

using LeftOutNumbers = std::map<std::uint32_t, MarkerCounts::Numbers>;

LeftOutNumbers left_out_of(const RunTotals& totals) {
  LeftOutNumbers numbers;
  for (const auto& [source, counts] : totals.left_out) numbers[source] = counts.numbers();
  return numbers;
}

}  // namespace

Json to_json(const RunTotals& t) {
  Json json;
  t.counters.put_into(json, Account::slices);
  auto& dropped = json["hits_dropped"];
  for (std::size_t i = 0; i < kDropCauses; ++i)
    dropped[kDropCauseNames[i]] = t[dropped_hits(static_cast<DropCause>(i))];
  json["source_losses"] = t.source_losses;
  json["events_lacking_source"] = t.events_lacking;
  json["events_rejected"] = t[Metric::events_rejected];
  json["events_tag_error"] = t[Metric::events_tag_error];
  json["events_rejected_by"] = t.rejected_by;
  if (!t.live_hits.empty()) json["hits_in_of_live_sources"] = t.live_hits;
  if (!t.left_out.empty()) json["markers_left_out"] = left_out_of(t);
  return json;
}

RunTotals totals_from_json(const Json& json) {
  RunTotals t;
  for (const auto& metric : metrics_of(Account::slices)) json.at(metric.name).get_to(t[metric.metric]);
  const auto& dropped = json.at("hits_dropped");
  for (std::size_t i = 0; i < kDropCauses; ++i) {  // earlier versions have fewer causes
    t[dropped_hits(static_cast<DropCause>(i))] = dropped.value(std::string(kDropCauseNames[i]), std::uint64_t{0});
  }
  json.at("source_losses").get_to(t.source_losses);
  json.at("events_lacking_source").get_to(t.events_lacking);
  // Lists of earlier versions lack these.
  t[Metric::events_rejected] = json.value("events_rejected", std::uint64_t{0});
  t[Metric::events_tag_error] = json.value("events_tag_error", std::uint64_t{0});
  t.rejected_by = json.value("events_rejected_by", std::vector<std::uint64_t>());
  t.live_hits = json.value("hits_in_of_live_sources", decltype(t.live_hits)());
  for (const auto& [source, numbers] : json.value("markers_left_out", LeftOutNumbers())) {
    t.add_left_out(source, MarkerCounts::of(numbers));
  }
  return t;
}

Json to_json(const PartInfo& part) {
  Json json{{"name", part.name},
            {"writer", part.writer},
            {"segment", part.segment},
            {"first_slice", part.first_slice},
            {"last_slice", part.last_slice},
            {"slices", part.slices},
            {"events", part.events},
            {"hits", part.hits},
            {"bytes", part.bytes}};
  if (part.datasets_sum) json["datasets_crc32"] = *part.datasets_sum;
  for (const auto& file : part.event_files) {
    json["event_files"].push_back(
        {{"name", file.name}, {"number", file.number}, {"events", file.events}, {"bytes", file.bytes}});
  }
  return json;
}

PartInfo part_from_json(const Json& json) {
  PartInfo part{json.at("name"),   json.at("writer"), json.at("segment"), json.at("first_slice"), json.at("last_slice"),
                json.at("slices"), json.at("events"), json.at("hits"),    json.at("bytes")};
  if (json.contains("datasets_crc32")) part.datasets_sum = json["datasets_crc32"].get<std::uint32_t>();
  for (const auto& file : json.value("event_files", Json::array())) {
    part.event_files.push_back({file.at("name"), file.at("number"), file.at("events"), file.at("bytes")});
  }
  return part;
}

}  // namespace eventloom
