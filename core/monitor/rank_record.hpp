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
  std::vector<EventHitRow> hits;  ///< the first `event.hits_told`
  friend bool operator==(const LatestEvent&, const LatestEvent&) = default;
};

using Histograms = std::array<LogHistogram, kHistograms>;

/// What a rank has counted so far; rows by their number.
struct RankRecord {
  TelemetryHead head;
  Counters counters;                             ///< of the run
  std::map<std::uint32_t, Counters> of_sources;  ///< also of sources of other ranks: what its builders found
  std::map<std::uint32_t, SourceRow> sources;
  std::map<std::uint32_t, BuilderRow> builders;
  std::map<std::uint32_t, WriterRow> writers;
  std::map<std::uint32_t, LinkRow> links;  ///< by builder
  Histograms histograms;
  std::vector<LatestEvent> events;   ///< those that are new
  std::vector<ChannelRow> channels;  ///< likewise the hits

  [[nodiscard]] LogHistogram& operator[](HistogramKind kind) { return histograms[static_cast<std::size_t>(kind)]; }
};

}  // namespace eventloom
