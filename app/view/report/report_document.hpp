#pragma once

#include <filesystem>
#include <span>

#include "app/view/report/run_summary.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/histogram_record.hpp"
#include "io/run_format/run_statistics.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// Returns the status document of a run that has ended, "kind" "report", which the page shows. `path`: the file that it
/// describes; `histograms`: those of --hist. Reads the chosen events from the run. Texts are as in the file: not
/// necessarily UTF-8.
Json report_document(const std::filesystem::path& path, const RunTables& run, const RunSummary& summary,
                     const RunStatistics& statistics, std::span<const HistogramRecord> histograms);

}  // namespace eventloom
