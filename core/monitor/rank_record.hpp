#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/monitor/log_histogram.hpp"
#include "core/runtime/metrics.hpp"
#include "formats/telemetry_wire.hpp"

namespace eventloom {

/// An event as the monitor shows it.
struct LatestEvent {
  EventRow event;
  std::vector<EventHitRow> hits;  ///< the first `event.hits_sent`
  friend bool operator==(const LatestEvent&, const LatestEvent&) = default;
};

using Histograms = std::array<LogHistogram, kHistograms>;

/// Counts of a rank so far; rows are keyed by their number.
struct RankRecord {
  TelemetryHead head;
  Counters counters;                             ///< counters of the run
  std::map<std::uint32_t, Counters> of_sources;  ///< includes sources of other ranks: results of this rank's builders
  std::map<std::uint32_t, SourceRow> sources;
  std::map<std::uint32_t, BuilderRow> builders;
  std::map<std::uint32_t, WriterRow> writers;
  std::map<std::uint32_t, LinkRow> links;  ///< keyed by builder
  Histograms histograms;
  std::vector<LatestEvent> events;   ///< new ones only
  std::vector<ChannelRow> channels;  ///< new hits only

  [[nodiscard]] LogHistogram& operator[](HistogramKind kind) { return histograms[static_cast<std::size_t>(kind)]; }
};

}  // namespace eventloom
