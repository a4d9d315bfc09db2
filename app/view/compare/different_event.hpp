#pragma once

#include <cstdint>
#include <optional>

#include "app/view/compare/compare_runs.hpp"

namespace eventloom {

/// Limits the hits shown per event, and thereby the memory.
inline constexpr std::uint64_t kMostHitsOfDifference = 10'000;

/// An event that differs; a member is set if the run has the event.
struct DifferentEvent {
  std::optional<OutputEvent> a;
  std::optional<OutputEvent> b;
};

inline DifferentEvent read_different(const RunTables& a, const RunTables& b, const Difference& difference) {
  DifferentEvent events;
  if (difference.found != Found::only_in_b) events.a = read_event(a, difference.a.place, kMostHitsOfDifference);
  if (difference.found != Found::only_in_a) events.b = read_event(b, difference.b.place, kMostHitsOfDifference);
  return events;
}

}  // namespace eventloom
