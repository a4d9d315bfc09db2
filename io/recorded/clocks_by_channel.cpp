#include "io/recorded/clocks_by_channel.hpp"

#include <optional>
#include <string_view>

#include "io/recorded/channel_ids.hpp"
#include "io/recorded/clock_turns.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

/// FIRST-LAST:UNIT, or CHANNEL:UNIT.
std::optional<ChannelUnit> channel_unit_in(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto range = text.substr(0, colon);
  const auto dash = range.find('-');
  const auto first = parse_whole(range.substr(0, dash), kMaxChannel);
  const auto last = dash == std::string_view::npos ? first : parse_whole(range.substr(dash + 1), kMaxChannel);
  if (!first || !last || *first > *last) return std::nullopt;
  return ChannelUnit{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last),
                     std::string(text.substr(colon + 1))};
}

}  // namespace

std::vector<ChannelUnit> units_by_channel(const SourceUri& uri) {
  const auto key = uri.get("unit", "");
  if (key.find(':') == std::string::npos) return {};
  std::vector<ChannelUnit> units;
  std::string_view rest = key;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    const auto unit = channel_unit_in(rest.substr(0, comma));
    if (!unit)
      uri.refuse("unit=" + key + " is not FIRST-LAST:UNIT,..., such as 0x20000-0x2ffff:10ns,0x30000-0x3ffff:8ns");
    for (const auto& other : units) {
      if (unit->first <= other.last && other.first <= unit->last)
        uri.refuse("unit=" + key + " has ranges that overlap");
    }
    units.push_back(*unit);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  for (const char* turning : {"bits", "modulus"}) {
    if (uri.has(turning) && ClockTurns::are_stated(uri)) {
      uri.refuse("unit= by channels is not valid with " + std::string(turning) +
                 "=: whose turns would they be? Read the channels of each unit as a source, by where=");
    }
  }
  return units;
}

}  // namespace eventloom
