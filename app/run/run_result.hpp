#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/document/latency_histogram.hpp"
#include "app/observe/status_document.hpp"
#include "app/run/unused_channels.hpp"
#include "core/control/clock_fit.hpp"
#include "core/dataflow/run_totals.hpp"
#include "core/dataflow/source_counts.hpp"
#include "formats/event.hpp"
#include "io/hdf5/part_info.hpp"
#include "io/hdf5/run_statistics.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// What one rank, or the whole run, has to say at the end of the events of one definition.
struct RunResult {
  RunTotals totals;
  /// What each source counts, by number.
  std::map<std::uint32_t, SourceCounts> sources;
  std::map<std::uint32_t, std::vector<std::string>> remarks;  ///< of the sources, see Source::remarks()
  bool input_cut = false;                    ///< a run on live input was ended before a recorded source had been read
  std::vector<std::uint64_t> channels_seen;  ///< bits of the detector's ChannelUse
  std::optional<UnusedChannels> unused;      ///< on rank 0, of the first definition
  LatencyHistogram latency;  ///< from the first hit of an event until it is built; empty where it is not known
  std::map<Tick, std::string> explained;  ///< for --explain, by the time of the event
  std::vector<ClockQuality> clocks;       ///< by rank, where slots are kept by clocks; on rank 0
  std::vector<PartInfo> parts;
  std::vector<SortedFile> sorted_files;  ///< of --save-sorted
  std::vector<Damage> sorted_damage;
  std::uint64_t slices_before = 0;      ///< of a resumed run: finished before; in the totals, too
  std::uint64_t hits_before = 0;        ///< those that came in with them
  bool live = false;                    ///< any source is
  bool all_live = false;                ///< all sources are
  bool unfinished = false;              ///< stopped in good order before everything was built
  std::vector<CommandRecord> commands;  ///< of those who steered it; on rank 0
  RunStatistics statistics;             ///< for run.h5; on rank 0
  double seconds = 0;                   ///< wall time of event building, output included
};

/// The counts of a source, what the builders found unfit of it, and in how many events it is missing.
SourceCounts counts_of(const RunResult& result, std::uint32_t source);

}  // namespace eventloom
