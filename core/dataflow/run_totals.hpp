#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Totals of a run, or of some of its slices. The totals of several ranks add up to those of the run.
struct RunTotals {
  Counters counters;
  /// Events that lack data of a source, by the bits of their mask (source 63 and above share the last).
  std::array<std::uint64_t, 64> events_lacking{};
  /// Hits that builders found defective, by source and cause; also included in the run's counters.
  std::map<std::uint32_t, std::array<std::uint64_t, kDropCauses>> source_losses;

  /// Events rejected by each filter expression, indexed by expression; empty without filters.
  std::vector<std::uint64_t> rejected_by;
  /// Markers that builders left out of events, by source; also included in the run's counters.
  std::map<std::uint32_t, MarkerCounts> left_out;

  /// Hits in, by live source; may omit sources without hits.
  std::map<std::uint32_t, std::uint64_t> live_hits;

  [[nodiscard]] std::uint64_t& operator[](Metric metric) { return counters[metric]; }
  [[nodiscard]] std::uint64_t operator[](Metric metric) const { return counters[metric]; }

  /// `slice` as passed to the sink.
  void add(const BuiltSlice& slice);
  /// Adds the ledger row of a slice; `incomplete`: it lacks data of a source.
  void add(const LedgerRow& row, bool incomplete);
  /// Adds an event with these flags and this mask of missing sources.
  void add_event(std::uint32_t flags, std::uint64_t sources_missing);
  void add_left_out(std::uint32_t source, const MarkerCounts& counts);
  /// Adds the events that each expression rejected.
  void add_rejected(std::span<const std::uint64_t> by_expression);
  void add(const RunTotals& other);
  /// Hits dropped for any cause.
  [[nodiscard]] std::uint64_t dropped() const;
  friend bool operator==(const RunTotals&, const RunTotals&) = default;
};

}  // namespace eventloom
