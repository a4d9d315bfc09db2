#pragma once

#include <ostream>

#include "app/view/report/run_summary.hpp"

namespace eventloom {

/// Prints the contents of a run: its totals; histograms of multiplicity, duration and time between events; and the hits
/// in events by source, group and channel. Names are made safe for a terminal.
void print_run_summary(std::ostream& out, const RunTables& run, const RunSummary& summary);

}  // namespace eventloom
