#pragma once

#include <string_view>
#include <vector>

#include "core/definitions/definitions.hpp"

namespace eventloom::test {

using Times = std::vector<Tick>;

/// Keys of hits at these times, which ascend; hits are numbered by their place.
inline std::vector<HitKey> keys_at(const Times& times) {
  std::vector<HitKey> keys;
  for (const Tick t : times)
    keys.push_back(make_key(static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(keys.size())));
  return keys;
}

/// The times of each event.
inline std::vector<Times> times_of(const EventList& list) {
  std::vector<Times> out;
  for (const auto& event : list.events()) {
    out.emplace_back();
    for (std::uint32_t i = event.begin; i < event.end; ++i) out.back().push_back(tick_of(list.hits()[i]));
  }
  return out;
}

/// The events that `definition` finds in a slice of [0, 1000) whose builder counts ticks from the absolute tick
/// `start`.
inline std::vector<Times> found(std::string_view definition, const Times& times, Tick start = 0) {
  const auto keys = keys_at(times);
  EventList events;
  events.restart(keys, {start, 0, 1000, 1000});
  parse_event_definition(definition, 1000)->find({start, keys}, events);
  return times_of(events);
}

}  // namespace eventloom::test
