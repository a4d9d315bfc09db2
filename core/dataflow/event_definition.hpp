#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "formats/ids.hpp"

namespace eventloom {

/// gap:G,M - a maximal run of hits in which each follows the one before by at most `gap`; kept with
/// at least `min_hits` hits.
struct GapDefinition {
  Tick gap = 0;
  std::uint64_t min_hits = 1;
};

/// multiplicity:W,T[,pre,post] - bins [kW, (k+1)W) from tick 0; maximal runs of consecutive bins
/// with at least T hits, widened by `pre` and `post` bins; widened runs that touch are one event.
struct MultiplicityDefinition {
  Tick width = 1;
  std::uint64_t threshold = 1;
  std::uint64_t pre = 0;
  std::uint64_t post = 0;
};

/// tag - hits of equal time are one event.
struct TagDefinition {};

using EventDefinition = std::variant<GapDefinition, MultiplicityDefinition, TagDefinition>;

/// Parses `--define`; lengths of time are ticks or carry a unit. Throws UserError that says what was expected.
EventDefinition parse_event_definition(std::string_view text, std::uint64_t tick_ps);

/// The definition as text, lengths of time in ticks: the same for all texts that mean the same.
std::string to_text(const EventDefinition& definition);

/// How far around a hit the definition looks to know where an event starts or ends, in ticks:
/// G; (pre + post + 2) W; 0.
Tick reach_of(const EventDefinition& definition);

}  // namespace eventloom
