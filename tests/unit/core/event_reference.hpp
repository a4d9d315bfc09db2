#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom::test {

/// Serial event building on the whole stream, by the text of the definitions and with none of the
/// program's code behind it.
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

/// `streams`: the hits of each source in the order of its stream. `definition`: as in `--define`, in ticks.
std::vector<RefEvent> reference_events(const std::vector<std::vector<RefHit>>& streams, const std::string& definition,
                                       Tick overlap);

}  // namespace eventloom::test
