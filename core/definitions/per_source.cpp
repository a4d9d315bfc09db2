#include "core/definitions/per_source.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace eventloom {

namespace {

class PerSource final : public EventDefinition {
 public:
  explicit PerSource(EventDefinitionPtr inner) : inner_(std::move(inner)) {}

  [[nodiscard]] std::string text() const override { return "per-source " + inner_->text(); }
  [[nodiscard]] DefinitionTraits traits() const override {
    auto traits = inner_->traits();
    traits.needs_channels = true;
    traits.finds_runs = false;
    return traits;
  }
  void find(const SortedHits& hits, EventList& events) const override;

 private:
  /// The events of one source.
  struct OfSource {
    std::vector<HitKey> keys;
    EventList events;
  };

  EventDefinitionPtr inner_;
};

void PerSource::find(const SortedHits& hits, EventList& events) const {
  std::vector<OfSource> sources;
  for (const HitKey key : hits.keys) {
    const std::size_t source = hits.source[number_of(key)];
    if (source >= sources.size()) sources.resize(source + 1);
    sources[source].keys.push_back(key);
  }
  std::vector<std::pair<HitKey, std::pair<std::size_t, std::size_t>>> found;  // first hit, source and number of event
  for (std::size_t s = 0; s < sources.size(); ++s) {
    auto& of = sources[s];
    auto mine = hits;
    mine.keys = of.keys;
    of.events.restart(of.keys, events.bounds());
    inner_->find(mine, of.events);
    for (std::size_t e = 0; e < of.events.events().size(); ++e) {
      found.push_back({of.events.hits()[of.events.events()[e].begin], {s, e}});
    }
  }
  std::ranges::sort(found);
  for (const auto& [first, place] : found) {
    const auto& from = sources[place.first].events;
    const auto& event = from.events()[place.second];
    events.take_list(from.hits().subspan(event.begin, event.end - event.begin), event.truncated);
  }
}

}  // namespace

EventDefinitionPtr per_source(EventDefinitionPtr definition) {
  if (definition->traits().needs_numbers)
    throw std::invalid_argument("events by number consist of the hits of all sources: use another definition");
  return std::make_shared<PerSource>(std::move(definition));
}

}  // namespace eventloom
