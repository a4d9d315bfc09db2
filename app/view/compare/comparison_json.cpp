#include "app/view/compare/comparison_json.hpp"

#include <utility>

#include "app/view/compare/different_event.hpp"
#include "app/view/show/event_members.hpp"

namespace eventloom {

namespace {

Json compared_json(const NamedRun& run, const ComparedRun& counted) {
  Json ledger = Json::object();
  for (const auto* counter : compared_counters()) ledger[counter->name] = counted.ledger[counter->metric];
  return {{"file", run.path.string()},
          {"closed", run.tables.record.closed},
          {"events", counted.events},
          {"hits", counted.hits},
          {"ledger", ledger}};
}

Json in_one_run(const EventAt& at, const OutputEvent& event) {
  auto json = event_members(event);
  json["number"] = at.number;
  json["n_hits"] = event.n_hits;
  return json;
}

Json difference_json(const NamedRun& a, const NamedRun& b, const Difference& difference) {
  const auto events = read_different(a.tables, b.tables, difference);
  Json aspects = Json::array();
  for (std::size_t i = 0; i < kAspects; ++i) {
    if (difference.aspects[i]) aspects.push_back(kAspectNames[i]);
  }
  Json json = {{"time", (events.a ? events.a : events.b)->time.value}, {"differs_in", std::move(aspects)}};
  if (events.a) json["a"] = in_one_run(difference.a, *events.a);
  if (events.b) json["b"] = in_one_run(difference.b, *events.b);
  return json;
}

}  // namespace

Json comparison_json(const NamedRun& a, const NamedRun& b, const Comparison& comparison) {
  Json by_aspect = Json::object();
  for (std::size_t i = 0; i < kAspects; ++i) {
    const bool rare = static_cast<Aspect>(i) == Aspect::value;  // only of runs with values
    if (!rare || comparison.by_aspect[i] != 0) by_aspect[kAspectNames[i]] = comparison.by_aspect[i];
  }
  Json differences = Json::array();
  for (const auto& difference : comparison.first) differences.push_back(difference_json(a, b, difference));
  return {{"differs", comparison.differs()},     {"a", compared_json(a, comparison.a)},
          {"b", compared_json(b, comparison.b)}, {"same", comparison.same},
          {"only_in_a", comparison.only_in_a},   {"only_in_b", comparison.only_in_b},
          {"different", comparison.different},   {"different_in", by_aspect},
          {"notes", comparison.notes},           {"first_differences", std::move(differences)}};
}

}  // namespace eventloom
