#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// The cost of a violation of the format.
enum class LmdEffect : std::uint8_t {
  none,        ///< no data
  loss,        ///< the hits that are counted
  hole,        ///< more than these may be missing
  breaks_off,  ///< nothing follows
};

struct LmdProblem {
  std::uint64_t offset = 0;  ///< bytes in the file
  LmdEffect effect = LmdEffect::none;
  std::uint32_t hits = 0;  ///< lost, as far as known
  std::string text;        ///< what was expected and what was found; empty: it has been reported
};

/// Counts a whole event, used or not.
void count(const LmdEvent& event, Counters& counters);

enum class LmdIndexState : std::uint8_t { none, whole, damaged };

/// Findings of the parts of a file's reader.
struct LmdNotes {
  Counters counters;  ///< of what is in the file
  LmdIndexState index = LmdIndexState::none;
  std::vector<LmdProblem> problems;  ///< in the order of the file; the receiver empties it

  /// When a thousand are pending, further ones of the same effect are merged into the last.
  void add(LmdProblem problem);
};

}  // namespace eventloom
