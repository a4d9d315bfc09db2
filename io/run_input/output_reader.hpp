#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/attribute_value.hpp"
#include "io/run_format/part_info.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_format/run_statistics.hpp"
#include "io/run_input/output_event.hpp"

namespace eventloom {

/// Contents of run.h5, a part or a merged file, and whether they are consistent.
struct OutputSummary {
  std::string format;  ///< kRunFormat, kPartFormat or kMergedFormat
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t payload_words = 0;
  RunTotals ledger;                   ///< sums of the ledger's rows
  std::vector<SourceRecord> sources;  ///< empty for a part
  std::vector<PartInfo> parts;        ///< only for run.h5
  std::vector<AlarmRecord> alarms;    ///< alarms that were raised, if the file states them
  std::vector<std::string> problems;  ///< inconsistencies, one line each
};

/// Throws UserError when the file is not an output of Eventloom or cannot be read.
OutputSummary read_output(const std::filesystem::path& path);

/// Reads the first `n` events by time; those of run.h5 come from its parts.
std::vector<OutputEvent> read_events(const std::filesystem::path& path, std::size_t n);

}  // namespace eventloom
