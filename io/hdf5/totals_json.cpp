#include "io/hdf5/totals_json.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace eventloom {

namespace {
using Json = nlohmann::ordered_json;
}  // namespace

Json to_json(const RunTotals& t) {
  Json dropped;
  for (std::size_t i = 0; i < kDropCauses; ++i) dropped[std::string(kDropCauseNames[i])] = t.hits_dropped[i];
  Json losses = Json::array();
  for (const auto& [source, hits] : t.source_losses) losses.push_back({source, hits});
  Json json;
  json["slices"] = t.slices;
  json["events"] = t.events;
  json["hits_in"] = t.hits_in;
  json["hits_in_events"] = t.hits_in_events;
  json["hits_outside"] = t.hits_outside;
  json["hits_rejected"] = t.hits_rejected;
  json["hits_dropped"] = std::move(dropped);
  json["source_losses"] = std::move(losses);
  json["hits_written"] = t.hits_written;
  json["events_truncated"] = t.events_truncated;
  json["events_incomplete"] = t.events_incomplete;
  json["events_lacking_source"] = t.events_lacking;
  json["incomplete_slices"] = t.incomplete_slices;
  json["anomalies"] = t.anomalies;
  json["unbalanced_slices"] = t.unbalanced_slices;
  return json;
}

RunTotals totals_from_json(const Json& json) {
  RunTotals t;
  t.slices = json.at("slices");
  t.events = json.at("events");
  t.hits_in = json.at("hits_in");
  t.hits_in_events = json.at("hits_in_events");
  t.hits_outside = json.at("hits_outside");
  t.hits_rejected = json.at("hits_rejected");
  for (std::size_t i = 0; i < kDropCauses; ++i) t.hits_dropped[i] = json.at("hits_dropped").at(kDropCauseNames[i]);
  for (const auto& loss : json.at("source_losses")) t.source_losses[loss.at(0)] = loss.at(1);
  t.hits_written = json.at("hits_written");
  t.events_truncated = json.at("events_truncated");
  t.events_incomplete = json.at("events_incomplete");
  t.events_lacking = json.at("events_lacking_source");
  t.incomplete_slices = json.at("incomplete_slices");
  t.anomalies = json.at("anomalies");
  t.unbalanced_slices = json.at("unbalanced_slices");
  return t;
}

Json to_json(const PartInfo& part) {
  return {{"name", part.name},
          {"writer", part.writer},
          {"segment", part.segment},
          {"first_slice", part.first_slice},
          {"last_slice", part.last_slice},
          {"slices", part.slices},
          {"events", part.events},
          {"hits", part.hits},
          {"bytes", part.bytes}};
}

PartInfo part_from_json(const Json& json) {
  return {json.at("name"),   json.at("writer"), json.at("segment"), json.at("first_slice"), json.at("last_slice"),
          json.at("slices"), json.at("events"), json.at("hits"),    json.at("bytes")};
}

}  // namespace eventloom
