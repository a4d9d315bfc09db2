#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/report/group_counts.hpp"
#include "app/report/value_histogram.hpp"
#include "core/monitor/channel_counts.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// What was counted over the time of the data, in stretches of equal numbers of slices.
struct DataSeries {
  std::uint64_t first_slice = 0;
  std::uint64_t slices = 0;          ///< from the first to the last, those without data included
  std::uint64_t slices_per_bin = 1;  ///< the last stretch may have fewer
  std::vector<std::uint64_t> hits_in;
  std::vector<std::uint64_t> events;

  [[nodiscard]] std::size_t bin_of(std::uint64_t slice) const {
    return static_cast<std::size_t>((slice - first_slice) / slices_per_bin);
  }
};

struct BuilderShare {
  std::uint64_t slices = 0;
  std::uint64_t hits = 0;
};

/// What the output of a run says of it, beyond its attributes. Times are in ticks.
struct RunSummary {
  RunTotals totals;  ///< sums over ledger and events
  ValueHistogram multiplicity;
  ValueHistogram duration;
  ValueHistogram interval;  ///< from the first hit of an event to that of the next
  ValueHistogram unbroken;  ///< those of `interval` that span no slice without hits
  Tick least_pause = 0;     ///< from the last hit of an event to the first of the next; 0 where events overlap
  ChannelCounts hits{{65536, std::size_t{1} << 20}};  ///< those in events
  KnownChannels known;                                ///< of the detector
  GroupHits groups;                                   ///< hits in events; of no groups where there are none
  DataSeries series;
  std::vector<std::uint64_t> after_gaps;  ///< slices whose predecessor has no hits, rising
  std::map<std::uint32_t, BuilderShare> builders;
  std::vector<std::uint64_t> slices_missing;  ///< by source
  std::vector<EventPlace> chosen;             ///< the largest events, and some at equal distances, in the order of time
};

/// Length of a slice in seconds.
double slice_seconds(const RunRecord& record);

/// Reads the whole output once, in pieces. Throws UserError when it is damaged.
RunSummary summarise_run(const RunTables& run);

}  // namespace eventloom
