#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Which runs have an event: its time is in one of them, or in both.
enum class Found : std::uint8_t { only_in_a, only_in_b, in_both };

/// What of an event that is in both runs is not the same.
enum class Aspect : std::uint8_t {
  hits,     ///< their number, times, channels, sources or order
  payload,  ///< of hits that are the same
  duration,
  flags,
  sources_missing
};
inline constexpr std::array kAspectNames = {"hits", "payload", "duration", "flags", "sources_missing"};
inline constexpr std::size_t kAspects = kAspectNames.size();
using Aspects = std::array<bool, kAspects>;

/// An event by its place in a run, and its number in the order of time.
struct EventAt {
  EventPlace place;
  std::uint64_t number = 0;
};

struct Difference {
  Found found = Found::in_both;
  Aspects aspects{};  ///< of one in both
  EventAt a;          ///< meaningless where the event is only in B
  EventAt b;
};

/// What was counted in one run.
struct ComparedRun {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;  ///< of the events
  RunTotals ledger;
};

struct Comparison {
  ComparedRun a;
  ComparedRun b;
  std::uint64_t same = 0;
  std::uint64_t only_in_a = 0;
  std::uint64_t only_in_b = 0;
  std::uint64_t different = 0;  ///< in both
  std::array<std::uint64_t, kAspects> by_aspect{};
  std::vector<Difference> first;   ///< in the order of time
  std::vector<std::string> notes;  ///< what explains differences, or limits what the comparison says

  [[nodiscard]] bool differs() const { return only_in_a + only_in_b + different != 0; }
};

/// The counters of the ledger that say the same of two runs whatever their slices: hits by what became of them.
std::vector<const MetricInfo*> compared_counters();

/// Reads both runs once, side by side, in constant memory but for the first `most` differences, which are kept. An
/// event is the same when its hits with their payload, its duration, flags and missing sources are; not compared is
/// what depends on how a run was done, such as slices. Throws UserError when a file is damaged, and when the times of
/// the runs cannot be compared.
Comparison compare_runs(const RunTables& a, const RunTables& b, std::size_t most);

}  // namespace eventloom
