#include "io/lmd/lmd_notes.hpp"

#include <limits>

namespace eventloom {

namespace {

constexpr std::size_t kMaxWaiting = 1000;

}  // namespace

void LmdCounts::add(const LmdEvent& event) {
  ++events;
  subevents += event.subevents.size();
  empty_events += event.subevents.empty() ? 1 : 0;
  event_bytes += 8 + 2 * std::uint64_t{event.dlen};
}

LmdCounts& LmdCounts::operator+=(const LmdCounts& other) {
  events += other.events;
  subevents += other.subevents;
  empty_events += other.empty_events;
  event_bytes += other.event_bytes;
  skipped_elements += other.skipped_elements;
  buffers += other.buffers;
  buffers_continued += other.buffers_continued;
  missing_buffers += other.missing_buffers;
  skipped_fragments += other.skipped_fragments;
  return *this;
}

void LmdNotes::add(LmdProblem problem) {
  if (problems.size() >= kMaxWaiting && problems.back().effect == problem.effect &&
      problems.back().hits <= std::numeric_limits<std::uint32_t>::max() - problem.hits) {
    problems.back().hits += problem.hits;
  } else {
    problems.push_back(std::move(problem));
  }
}

}  // namespace eventloom
