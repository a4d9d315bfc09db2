#include "io/hdf5/totals_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace eventloom {

namespace {

using Json = nlohmann::ordered_json;

struct TotalField {
  const char* name;
  std::uint64_t RunTotals::*field;
};
/// The plain numbers.
constexpr std::array kFields = {
    TotalField{"slices", &RunTotals::slices},
    TotalField{"events", &RunTotals::events},
    TotalField{"hits_in", &RunTotals::hits_in},
    TotalField{"hits_in_events", &RunTotals::hits_in_events},
    TotalField{"hits_outside", &RunTotals::hits_outside},
    TotalField{"hits_rejected", &RunTotals::hits_rejected},
    TotalField{"hits_written", &RunTotals::hits_written},
    TotalField{"events_truncated", &RunTotals::events_truncated},
    TotalField{"events_incomplete", &RunTotals::events_incomplete},
    TotalField{"incomplete_slices", &RunTotals::incomplete_slices},
    TotalField{"anomalies", &RunTotals::anomalies},
    TotalField{"unbalanced_slices", &RunTotals::unbalanced_slices},
};

}  // namespace

Json to_json(const RunTotals& t) {
  Json json;
  for (const auto& [name, field] : kFields) json[name] = t.*field;
  auto& dropped = json["hits_dropped"];
  for (std::size_t i = 0; i < kDropCauses; ++i) dropped[std::string(kDropCauseNames[i])] = t.hits_dropped[i];
  auto& losses = json["source_losses"] = Json::array();
  for (const auto& [source, hits] : t.source_losses) losses.push_back({source, hits});
  json["events_lacking_source"] = t.events_lacking;
  return json;
}

RunTotals totals_from_json(const Json& json) {
  RunTotals t;
  for (const auto& [name, field] : kFields) json.at(name).get_to(t.*field);
  for (std::size_t i = 0; i < kDropCauses; ++i) t.hits_dropped[i] = json.at("hits_dropped").at(kDropCauseNames[i]);
  for (const auto& loss : json.at("source_losses")) t.source_losses[loss.at(0)] = loss.at(1);
  json.at("events_lacking_source").get_to(t.events_lacking);
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
