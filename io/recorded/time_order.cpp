#include "io/recorded/time_order.hpp"

#include <algorithm>
#include <stdexcept>

#include "formats/units.hpp"
#include "io/recorded/clock_turns.hpp"

namespace eventloom {

namespace {

constexpr const char* kForm = ": give a length of time such as 20ms, a number of hits, or both: reorder=20ms,1e6";

bool ends_in_unit(const std::string& text) { return !text.empty() && text.back() >= 'a' && text.back() <= 'z'; }

struct ReorderKey {
  std::string time;
  std::string hits;
};

ReorderKey split_reorder(const SourceUri& uri) {
  const auto text = uri.get("reorder", "");
  ReorderKey key;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto item = text.substr(begin, end - begin);
    auto& place = ends_in_unit(item) ? key.time : key.hits;
    if (item.empty() || !place.empty()) uri.refuse("reorder=" + text + kForm);
    place = item;
    begin = end + 1;
  }
  return key;
}

std::uint64_t hits_of(const SourceUri& uri, const std::string& text) {
  return uri.with("reorder", text).get_count("reorder", 0, 1, kMaxReorderHits);
}

Tick time_of(const SourceUri& uri, const std::string& text, std::uint64_t tick_ps) {
  try {
    return parse_duration(text, tick_ps);
  } catch (const std::invalid_argument& e) {
    uri.refuse("reorder=" + text + ": " + e.what());
  }
}

JumpPolicy policy_of(const SourceUri& uri, bool has_bits) {
  const auto text = uri.get("jumps", "");
  if (text == "new-era") return JumpPolicy::new_era;
  if (text == "drop") return JumpPolicy::drop;
  if (text == "unwrap" && !has_bits) {
    uri.refuse("jumps=unwrap: the times are not those of a counter that bits= unwraps; use new-era or drop");
  }
  if (text == "unwrap" && !ClockTurns::are_stated(uri))
    uri.refuse("jumps=unwrap needs the width of the counter: bits=32");
  if (text != "unwrap" && uri.has("jumps")) uri.refuse("jumps=" + text + " is not known; use unwrap, new-era or drop");
  return JumpPolicy::refuse;
}

}  // namespace

TimeOrder time_order_of(const SourceUri& uri, const TimeOrderDefaults& defaults, std::uint64_t tick_ps) {
  const auto key = split_reorder(uri);
  TimeOrder order;
  order.tick_ps = tick_ps;
  order.has_bits = defaults.has_bits;
  order.unwraps = defaults.has_bits && ClockTurns::are_stated(uri);
  order.watches_turns = defaults.has_bits && !order.unwraps && !ClockTurns::are_denied(uri);
  order.sorts_restarts = ClockTurns::are_denied(uri);
  order.policy = policy_of(uri, defaults.has_bits);
  order.disorder = key.time.empty() ? Tick(defaults.disorder_ps / tick_ps) : time_of(uri, key.time, tick_ps);
  // A followed source must know when no earlier hit can come.
  order.is_strict = !key.time.empty() || uri.has("follow");
  order.reorder.hits = key.hits.empty() ? defaults.hits : hits_of(uri, key.hits);
  // A strict limit is taken literally, and nothing is sorted across an accepted jump.
  order.frames_in_any_order = !order.is_strict && order.policy == JumpPolicy::refuse;
  order.names_restarts = order.frames_in_any_order && !order.sorts_restarts && defaults.disorder_ps <= kDisorderPs;
  if (order.is_strict) {
    order.reorder.span = order.disorder;
    if (key.hits.empty()) order.reorder.hits = kMaxReorderHits;
  }
  return order;
}

ReorderLimits reorder_of_numbers(const SourceUri& uri, std::uint64_t hits) {
  if (uri.has("jumps")) uri.refuse("jumps= is not valid where times are event numbers");
  const auto key = split_reorder(uri);
  if (!key.time.empty()) uri.refuse("reorder=" + key.time + " is not a number of hits; times are event numbers here");
  return {.hits = key.hits.empty() ? hits : hits_of(uri, key.hits)};
}

bool refuses_disorder_of_numbers(const SourceUri& uri) { return !uri.has("reorder") && !ClockTurns::are_denied(uri); }

TimeOrder order_of_numbers(const SourceUri& uri, bool has_bits) {
  TimeOrder order;
  order.numbers = true;
  order.has_bits = has_bits;
  order.unwraps = has_bits && ClockTurns::are_stated(uri);
  order.watches_turns = has_bits && !order.unwraps;
  order.tick_ps = 1;
  return order;
}

}  // namespace eventloom
