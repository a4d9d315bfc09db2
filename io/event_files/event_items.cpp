#include "io/event_files/event_items.hpp"

namespace eventloom {

HitOrigin hit_origin_of(std::string_view description) {
  if (description.find(lmd_hit_rule()) != description.npos) return {HitKind::lmd_subevent, {}};
  if (!has_hld_subevents(description)) return {};
  return {HitKind::hld_subevent, parse_hld_origin(description).value_or(HldOrigin{})};
}

const EventItems& EventSplitter::split(const EventHits& event) {
  items_.lmd.clear();
  items_.hld.clear();
  items_.others.clear();
  std::size_t word = 0;
  for (std::size_t i = 0; i < event.times.size(); ++i) {
    const std::size_t words = event.payload_words.empty() ? 0 : event.payload_words[i];
    const auto payload = event.payload.subspan(word, words);
    word += words;
    if (!take(event.sources[i], payload))
      items_.others.add(event.times[i], event.sources[i], event.channels[i], payload);
  }
  return items_;
}

/// Takes a hit that represents a subevent. Returns false for any other hit.
bool EventSplitter::take(std::uint16_t source, std::span<const std::uint32_t> payload) {
  const auto& origin = origins_.at(source);
  if (origin.kind == HitKind::lmd_subevent) {
    const auto hit = read_lmd_hit(payload);
    if (hit) items_.lmd.push_back(*hit);
    return hit.has_value();
  }
  if (origin.kind == HitKind::plain) return false;
  const auto hit = read_hld_hit(payload, origin.hld);
  if (!hit) return false;
  items_.hld.push_back({*hit, source});
  return true;
}

}  // namespace eventloom
