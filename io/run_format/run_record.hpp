#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"
#include "io/run_format/detector_record.hpp"
#include "io/run_format/hit_notes.hpp"

namespace eventloom {

/// A source of the run, as listed in /sources.
struct SourceRecord {
  std::string name;
  std::string uri;
  InputFile input;
  std::uint32_t id = 0;      ///< source id recorded in its stream
  std::string description;   ///< meaning of its channels and payload words, as the stream states it
  std::string payload = {};  ///< names and types of its payload columns: "energy f64, flags u32"; empty: unknown
};

/// Attributes of run.h5's root, which describe the run as a whole.
struct RunRecord {
  bool closed = false;                      ///< the run ended and all parts are listed
  std::optional<std::uint64_t> run_number;  ///< number among the runs of a folder; not set: it is not one of several
  std::string run_comment;                  ///< comment by the person who began it; may be empty
  std::string setup;                        ///< INI text of --print-config
  std::string definition;
  std::vector<std::string> filters;
  std::vector<std::string> histograms;  ///< texts of --hist
  // Times are UTC, as in 2026-11-22T18:31:48Z; empty when not recorded.
  std::string began;                       ///< start of the first invocation
  std::string ended;                       ///< end of the last invocation that ended normally
  std::vector<std::string> command_lines;  ///< command lines of the first invocation and those that ended normally
  std::vector<std::string> folders;        ///< working folders of these: paths of sources may be relative to them
  std::string time_of_tick_0;              ///< empty when not known
  std::string missing;                     ///< set in a merged file of an unfinished run: what is missing, in words
  std::string eventloom_version;
  std::string eventloom_commit;  ///< empty when built outside a repository
  std::string mpi_version;
  std::string ucx_version;
  std::string hdf5_version;  ///< set on reading; write_run_file() uses the library's version
  std::vector<std::string> hosts;
  TimeBase base;
  std::uint64_t epochs_per_slice = 0;
  Tick overlap = 0;
  bool with_payload = false;
  HitNotes hits;
  bool numbered = false;              ///< times are event numbers
  std::vector<std::string> commands;  ///< steering commands: "TIME COMMAND from ADDRESS"
  std::vector<SourceRecord> sources;
  DetectorRecord detector;
  RunTotals totals;
};

/// Beginning of the entry of --filter-command, which is the last one of RunRecord::filters.
inline constexpr const char* kFilterCommand = "--filter-command ";
/// How many events the i-th of `filters` accepted and rejected. Every expression is evaluated for all events; a command
/// is asked only about those that all expressions accept.
struct FilterCounts {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};
FilterCounts counts_of_filter(const std::vector<std::string>& filters, const RunTotals& totals, std::size_t i);

/// "run 42 (with the new target)"; empty if the run has no number.
std::string run_text(const RunRecord& record);

/// Whether events of the run may begin at the same tick: clusters, and events of each source. Such events are in one
/// part file, in their order, since they belong to one slice.
bool events_share_times(const RunRecord& record);
/// Value of an option in the setup of a run; empty when it is not set.
std::string setup_option(const RunRecord& record, const std::string& name);
/// All values of an option that may be repeated.
std::vector<std::string> setup_options(const RunRecord& record, const std::string& name);
/// Deflate level of its parts.
unsigned compress_of(const RunRecord& record);

/// UTC of a tick; std::nullopt when the time of tick 0 is unknown or the result is out of range.
std::optional<std::string> utc_of_tick(const RunRecord& record, Tick tick);

}  // namespace eventloom
