#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"
#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// One source of the run, as /sources lists it.
struct SourceRecord {
  std::string name;
  std::string uri;
  InputFile input;
  std::uint32_t id = 0;     ///< source id recorded in its stream
  std::string description;  ///< what its channels and payload words are, as the stream states it
};

/// Attributes of run.h5's root, which describe the run as a whole.
struct RunRecord {
  bool closed = false;  ///< the run ended and all parts are listed
  std::string setup;    ///< INI text of --print-config
  std::string definition;
  std::vector<std::string> filters;
  // Times are UTC, as in 2026-11-22T18:31:48Z; empty where the file does not say.
  std::string began;                       ///< the first invocation
  std::string ended;                       ///< the last invocation that ended in good order
  std::vector<std::string> command_lines;  ///< of the invocations, the first and those that ended in good order
  std::vector<std::string> folders;        ///< in which these were called: paths of sources may be relative to them
  std::string time_of_tick_0;              ///< empty where nobody states it
  std::string missing;  ///< in a merged file of a run that had not ended: what is missing, in words; else empty
  std::string eventloom_version;
  std::string eventloom_commit;  ///< empty where the program was built from no repository
  std::string mpi_version;
  std::string ucx_version;
  std::string hdf5_version;  ///< set when read; write_run_file() asks the library
  std::vector<std::string> hosts;
  TimeBase base;
  std::uint64_t epochs_per_slice = 0;
  Tick overlap = 0;
  bool with_payload = false;
  bool numbered = false;              ///< times are event numbers
  std::vector<std::string> commands;  ///< of those who steered the run: "TIME COMMAND from ADDRESS"
  std::vector<SourceRecord> sources;
  DetectorRecord detector;
  RunTotals totals;
};

/// The value of an option in the setup of a run; empty when it is not there.
std::string setup_option(const RunRecord& record, const std::string& name);
/// All values of an option that may be repeated.
std::vector<std::string> setup_options(const RunRecord& record, const std::string& name);
/// The deflate level of its parts.
unsigned compress_of(const RunRecord& record);

/// UTC of a tick; nothing where the run does not know that of tick 0, or it does not fit.
std::optional<std::string> utc_of_tick(const RunRecord& record, Tick tick);

}  // namespace eventloom
