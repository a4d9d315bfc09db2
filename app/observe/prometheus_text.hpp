#pragma once

#include <string>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// /metrics: the Prometheus text format 0.0.4. Every counter of the metrics table, of the run and of each source, and
/// what the rings, builders and ranks do.
std::string prometheus_text(const RunDescription& run, const RunSnapshot& snapshot);

/// A label's value as the format wants it, quotes not included; bytes that are not UTF-8 are replaced.
std::string escaped_label(const std::string& value);

}  // namespace eventloom
