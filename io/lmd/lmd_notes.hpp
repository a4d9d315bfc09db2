#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// Data lost by a violation of the format.
enum class LmdEffect : std::uint8_t {
  none,        ///< no data
  loss,        ///< exactly the counted hits
  hole,        ///< the counted hits, and possibly more
  breaks_off,  ///< everything after it is lost
};

struct LmdProblem {
  std::uint64_t offset = 0;  ///< position in the file, bytes
  LmdEffect effect = LmdEffect::none;
  std::uint32_t hits = 0;  ///< known number of lost hits
  std::string text;        ///< expected and found contents; empty: already reported
};

/// Counts a complete event, whether used or not.
void count(const LmdEvent& event, Counters& counters);

enum class LmdIndexState : std::uint8_t { none, whole, damaged };

/// Findings collected by the components of a file reader.
struct LmdNotes {
  Counters counters;  ///< counts of the file's contents
  LmdIndexState index = LmdIndexState::none;
  std::vector<LmdProblem> problems;  ///< problems in file order; the receiver empties it

  /// Adds a problem. When 1000 are pending, further ones are merged into the last one if it has the same effect.
  void add(LmdProblem problem);
};

}  // namespace eventloom
