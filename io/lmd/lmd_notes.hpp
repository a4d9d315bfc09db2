#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// Contents of the file, used or not.
struct LmdCounts {
  std::uint64_t events = 0;
  std::uint64_t subevents = 0;
  std::uint64_t empty_events = 0;  ///< without subevents
  std::uint64_t event_bytes = 0;
  std::uint64_t skipped_elements = 0;  ///< of other types than events
  std::uint64_t buffers = 0;
  std::uint64_t buffers_continued = 0;  ///< that begin with the continuation of an event
  std::uint64_t missing_buffers = 0;    ///< by their numbers
  std::uint64_t skipped_fragments = 0;  ///< continuations of events whose beginning is missing

  /// A whole event.
  void add(const LmdEvent& event);
  LmdCounts& operator+=(const LmdCounts& other);
};

enum class LmdIndexState : std::uint8_t { none, whole, damaged };

/// Findings of the parts of a file's reader.
struct LmdNotes {
  LmdCounts counts;
  LmdIndexState index = LmdIndexState::none;
  std::vector<LmdProblem> problems;  ///< in the order of the file; the receiver empties it

  /// When a thousand are pending, further ones of the same effect are merged into the last.
  void add(LmdProblem problem);
};

}  // namespace eventloom
