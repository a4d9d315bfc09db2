#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom::test {

/// Builds events serially on the whole stream from the text of the definitions; shares no code with the program.
struct RefHit {
  Tick time = 0;
  std::uint32_t channel = 0;
  std::vector<std::uint32_t> payload;
  std::uint16_t source = 0;
  friend bool operator==(const RefHit&, const RefHit&) = default;
};

struct RefEvent {
  std::vector<RefHit> hits;
  bool truncated = false;
  [[nodiscard]] Tick first() const { return hits.front().time; }
  [[nodiscard]] Tick last() const { return hits.back().time; }
};

/// Channels that belong to a group, of one source or of all.
struct RefGroup {
  std::string name;
  std::optional<std::uint16_t> source;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
/// The groups of the reference: A and B, which share channels, and "none", which has none.
const std::vector<RefGroup>& reference_groups();

/// Whether a condition holds for hits: comparisons joined by && and ||, where && binds more tightly, without
/// parentheses, ! and blanks.
bool reference_holds(const std::string& condition, const std::vector<RefHit>& hits);

/// `streams`: the hits of each source in stream order. `definition`: as in `--define`, in ticks.
std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap);

}  // namespace eventloom::test
