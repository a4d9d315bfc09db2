#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

/// Before a definition: applied to the hits of each source alone.
inline constexpr std::string_view kPerSource = "per-source ";

/// `streams`: the hits of each source in stream order. `definition`: as in `--define`, in ticks, possibly after
/// kPerSource; of clusters, the channels are pixels.
std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap);

}  // namespace eventloom::test
