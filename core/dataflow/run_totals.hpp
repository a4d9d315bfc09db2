#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "formats/event.hpp"

namespace eventloom {

/// Sums over slices. Adding those of several ranks gives those of the run.
struct RunTotals {
  std::uint64_t slices = 0;
  std::uint64_t events = 0;
  std::uint64_t hits_written = 0;  ///< hits of the events that were kept; must equal hits_in_events
  std::uint64_t hits_in = 0;
  std::uint64_t hits_in_events = 0;
  std::uint64_t hits_outside = 0;
  std::uint64_t hits_rejected = 0;
  std::array<std::uint64_t, kDropCauses> hits_dropped{};
  std::uint64_t events_truncated = 0;
  std::uint64_t events_incomplete = 0;
  /// Events that lack data of a source, by the bits of their mask (source 63 and above share the last).
  std::array<std::uint64_t, 64> events_lacking{};
  std::uint64_t incomplete_slices = 0;  ///< with data of a source missing
  /// Hits that builders found unfit, by source and cause; those are in hits_dropped, too.
  std::map<std::uint32_t, std::array<std::uint64_t, kDropCauses>> source_losses;
  /// Damage of the input that cost no hits, or an unknown number of them: see Source::anomalies().
  std::uint64_t anomalies = 0;
  std::uint64_t unbalanced_slices = 0;  ///< whose ledger row does not balance: a defect of the program

  /// `slice` as passed to the sink.
  void add(const BuiltSlice& slice);
  void add(const RunTotals& other);
  [[nodiscard]] std::uint64_t dropped() const;
  friend bool operator==(const RunTotals&, const RunTotals&) = default;
};

}  // namespace eventloom
