#pragma once

#include <string>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// Returns /metrics in the Prometheus text format 0.0.4: all counters of the metrics table, for the run and for each
/// source, and the activity of rings, builders and ranks.
std::string prometheus_text(const RunDescription& run, const RunSnapshot& snapshot);

/// Returns a label's value in the required format, without the quotes; bytes that are not valid UTF-8 are replaced.
std::string escaped_label(const std::string& value);

}  // namespace eventloom
