#pragma once

#include <string>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// Appends the event histograms in Prometheus format, with fewer bins. Each bin of a LogHistogram lies within one of
/// these, so counts and sums are exact. The latency histogram stays empty if latency is not measured.
void add_event_histograms(std::string& out, const RunDescription& run, const RunSnapshot& snapshot);

}  // namespace eventloom
