#include "app/view/show/event_members.hpp"

#include <utility>

namespace eventloom {

Json event_members(const OutputEvent& event) {
  auto hits = Json::array();
  for (const auto& hit : event.hits) {
    Json item = {{"time", hit.time.value}, {"channel", hit.channel}, {"source", hit.source}};
    if (!hit.payload.empty()) item["payload"] = hit.payload;
    if (hit.value) item["value"] = *hit.value;  // null: no payload
    hits.push_back(std::move(item));
  }
  return {{"time", event.time.value},
          {"duration", event.duration.value},
          {"slice", event.slice},
          {"flags", event.flags},
          {"hits", hits},
          {"sources_missing", event.sources_missing}};
}

}  // namespace eventloom
