#include "io/lmd/lmd_notes.hpp"

#include <limits>

namespace eventloom {

namespace {

constexpr std::size_t kMaxWaiting = 1000;

}  // namespace

void count(const LmdEvent& event, Counters& counters) {
  ++counters[Metric::source_events];
  counters[Metric::subevents] += event.subevents.size();
  counters[Metric::empty_events] += event.subevents.empty() ? 1 : 0;
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
