#pragma once

#include <iosfwd>

#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Messages of the live sources on this rank name them as the detector map does.
void show_labels(RunSetup& setup);

/// Prints the part of the summary on individual sources: a line per source with counters of trouble, and a line with
/// the sources whose times go back, the largest step first.
void print_sources(std::ostream& out, const RunSetup& setup, const RunResult& result);

/// Warns of sources that share no time: their spans do not overlap, or their clocks jump and none knows the others.
void report_clocks(const RunSetup& setup, const RunResult& result);

/// Logs the remarks of live sources as warnings, the last messages of a run.
void report_remarks(const RunSetup& setup, const RunResult& result);
Json remarks_json(const RunResult& result);

}  // namespace eventloom
