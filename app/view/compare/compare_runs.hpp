#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// The runs that contain an event's time: one, or both.
enum class Found : std::uint8_t { only_in_a, only_in_b, in_both };

/// The property that differs in an event of both runs.
enum class Aspect : std::uint8_t {
  hits,     ///< number, times, channels, sources or order
  payload,  ///< payload of hits that are otherwise equal
  value,    ///< values of such hits, if both runs have values
  duration,
  flags,
  sources_missing
};
inline constexpr std::array kAspectNames = {"hits", "payload", "value", "duration", "flags", "sources_missing"};
inline constexpr std::size_t kAspects = kAspectNames.size();
using Aspects = std::array<bool, kAspects>;

/// An event, by its place in a run and its number in time order.
struct EventAt {
  EventPlace place;
  std::uint64_t number = 0;
};

struct Difference {
  Found found = Found::in_both;
  Aspects aspects{};  ///< set if the event is in both runs
  EventAt a;          ///< meaningless if the event is only in B
  EventAt b;
};

/// Counts of one run.
struct ComparedRun {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;  ///< hits in events
  RunTotals ledger;
};

struct Comparison {
  ComparedRun a;
  ComparedRun b;
  std::uint64_t same = 0;
  std::uint64_t only_in_a = 0;
  std::uint64_t only_in_b = 0;
  std::uint64_t different = 0;  ///< present in both runs, but different
  std::array<std::uint64_t, kAspects> by_aspect{};
  std::vector<Difference> first;   ///< sorted by time
  std::vector<std::string> notes;  ///< explain differences, or limit the validity of the comparison

  [[nodiscard]] bool differs() const { return only_in_a + only_in_b + different != 0; }
};

/// Counters of the ledger that do not depend on how a run was divided into slices: hits by what became of them.
std::vector<const MetricInfo*> compared_counters();

/// Reads both runs once, in parallel, in constant memory except for the first `most` differences, which are kept. Two
/// events are equal if their hits with payload, duration, flags and missing sources are equal. Properties that depend
/// on how a run was performed, such as slices, are not compared. Throws UserError if a file is damaged or the times of
/// the runs cannot be compared.
Comparison compare_runs(const RunTables& a, const RunTables& b, std::size_t most);

}  // namespace eventloom
