#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/document/group_counts.hpp"
#include "app/view/report/value_histogram.hpp"
#include "core/monitor/channel_counts.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Counts over the time of the data, in bins of equal numbers of slices.
struct DataSeries {
  std::uint64_t first_slice = 0;
  std::uint64_t slices = 0;          ///< number from the first to the last, including those without data
  std::uint64_t slices_per_bin = 1;  ///< the last bin may have fewer
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

/// The contents of a run's output beyond its attributes. Times are in ticks.
struct RunSummary {
  RunTotals totals;  ///< sums over ledger and events
  ValueHistogram multiplicity;
  ValueHistogram duration;
  ValueHistogram interval;  ///< time from the first hit of an event to that of the next
  ValueHistogram unbroken;  ///< the values of `interval` that span no slice without hits
  Tick least_pause = 0;     ///< time from the last hit of an event to the first of the next; 0 if events overlap
  ChannelCounts hits{{65536, std::size_t{1} << 20}};  ///< hits in events
  KnownChannels known;                                ///< channels of the detector
  GroupHits groups;                                   ///< hits in events; empty if there are no groups
  DataSeries series;
  std::vector<std::uint64_t> after_gaps;  ///< slices whose predecessor has no hits, ascending
  std::map<std::uint32_t, BuilderShare> builders;
  std::vector<std::uint64_t> slices_missing;  ///< one per source
  std::vector<EventPlace> chosen;             ///< the largest events and some at equal distances, in time order
};

/// Returns the length of a slice in seconds.
double slice_seconds(const RunRecord& record);

/// Reads the whole output once, in pieces. Throws UserError if it is damaged.
RunSummary summarise_run(const RunTables& run);

}  // namespace eventloom
