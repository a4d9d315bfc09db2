#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "io/lmd/lmd_event.hpp"

namespace eventloom {

/// What a place that is not as the format says costs.
enum class LmdEffect : std::uint8_t {
  none,        ///< no data
  loss,        ///< the hits that are counted
  hole,        ///< more than these may be missing
  breaks_off,  ///< nothing comes after
};

struct LmdProblem {
  std::uint64_t offset = 0;  ///< bytes in the file
  LmdEffect effect = LmdEffect::none;
  std::uint32_t hits = 0;  ///< lost, as far as known
  std::string text;        ///< what was expected and what was found; empty: it has been said
};

/// Counts an event that is whole, whether it is used or not.
void count(const LmdEvent& event, Counters& counters);

enum class LmdIndexState : std::uint8_t { none, whole, damaged };

/// What the parts of a file's reader find out on their way.
struct LmdNotes {
  Counters counters;  ///< of what is in the file
  LmdIndexState index = LmdIndexState::none;
  std::vector<LmdProblem> problems;  ///< in the order of the file; whoever takes them empties it

  /// When a thousand wait to be taken, more of the same effect are put together with the last.
  void add(LmdProblem problem);
};

}  // namespace eventloom
