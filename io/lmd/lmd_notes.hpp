#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// Of what is in the file, whether it is used or not.
struct LmdCounts {
  std::uint64_t events = 0;
  std::uint64_t subevents = 0;
  std::uint64_t empty_events = 0;  ///< without subevents
  std::uint64_t event_bytes = 0;
  std::uint64_t skipped_elements = 0;  ///< of other types than events
  std::uint64_t buffers = 0;
  std::uint64_t buffers_continued = 0;  ///< that begin with the rest of an event
  std::uint64_t missing_buffers = 0;    ///< by their numbers
  std::uint64_t skipped_fragments = 0;  ///< rests of events whose beginning is not there

  /// A whole event.
  void add(const LmdEvent& event);
  LmdCounts& operator+=(const LmdCounts& other);
};

enum class LmdIndexState : std::uint8_t { none, whole, damaged };

/// What the parts of a file's reader find out on their way.
struct LmdNotes {
  LmdCounts counts;
  LmdIndexState index = LmdIndexState::none;
  std::vector<LmdProblem> problems;  ///< in the order of the file; whoever takes them empties it

  /// When a thousand wait to be taken, more of the same effect are put together with the last.
  void add(LmdProblem problem);
};

}  // namespace eventloom
