#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/report/run_summary.hpp"
#include "io/run_input/run_tables.hpp"

namespace eventloom {

/// The status document of a run that has ended, "kind" "report": what the page shows. `path`: the file it is about.
/// Reads the chosen events from the run. Texts are as in the file: not necessarily UTF-8.
nlohmann::json status_document(const std::filesystem::path& path, const RunTables& run, const RunSummary& summary,
                               const RunStatistics& statistics);

}  // namespace eventloom
