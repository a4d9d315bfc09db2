#pragma once

#include <ostream>

#include "app/view/report/run_summary.hpp"

namespace eventloom {

/// Prints what a run holds: its totals, multiplicity, duration and time between events as histograms, hits in events by
/// source, group and channel. Names are made safe for a terminal.
void print_run_summary(std::ostream& out, const RunTables& run, const RunSummary& summary);

}  // namespace eventloom
