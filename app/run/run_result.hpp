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
#include "core/dataflow/hit_spans.hpp"
#include "core/dataflow/run_totals.hpp"
#include "core/dataflow/source_counts.hpp"
#include "core/dataflow/unplaced_hits.hpp"
#include "formats/event.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_statistics.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// The result of one rank, or of the whole run, for one definition.
struct RunResult {
  RunTotals totals;
  /// Counts of each source, by number.
  std::map<std::uint32_t, SourceCounts> sources;
  std::map<std::uint32_t, std::vector<std::string>> remarks;  ///< remarks of the sources, see Source::remarks()
  std::map<std::uint32_t, Epoch> ends;       ///< one past the last epoch with data of each source, where it is known
  bool input_cut = false;                    ///< a live run ended before a recorded source was read completely
  std::vector<std::uint64_t> channels_seen;  ///< bits of the detector's ChannelUse
  UnplacedHits unplaced;                     ///< hits without a position; since a resumed run was resumed
  HitSpans spans;                            ///< likewise
  std::optional<UnusedChannels> unused;      ///< rank 0 only, for the first definition
  LatencyHistogram latency;               ///< time from the first hit of an event until it is built; empty if unknown
  std::map<Tick, std::string> explained;  ///< explanations for --explain, by the time of the event
  std::vector<ClockQuality> clocks;       ///< indexed by rank, if clocks keep the slots; rank 0 only
  std::vector<PartInfo> parts;
  std::vector<SortedFile> sorted_files;  ///< files of --save-sorted
  std::vector<Damage> sorted_damage;
  std::uint64_t slices_before = 0;      ///< slices finished before the run was resumed; included in the totals
  std::uint64_t hits_before = 0;        ///< hits in these slices
  bool live = false;                    ///< any source is live
  bool all_live = false;                ///< all sources are live
  bool unfinished = false;              ///< stopped cleanly before everything was built
  std::vector<CommandRecord> commands;  ///< commands that steered the run; rank 0 only
  RunStatistics statistics;             ///< contents of run.h5; rank 0 only
  double seconds = 0;                   ///< wall time of event building and output
};

/// Returns the counts of a source, including what builders rejected of it and the number of events that lack it.
SourceCounts counts_of(const RunResult& result, std::uint32_t source);

}  // namespace eventloom
