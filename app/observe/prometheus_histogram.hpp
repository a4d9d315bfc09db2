#pragma once

#include <string>

#include "app/observe/run_description.hpp"
#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// The histograms of events as those of Prometheus, with few bins: what lies in a bin of a LogHistogram lies in one of
/// these, so that counts and sum are exact. That of latency stays empty where it is not measured.
void add_event_histograms(std::string& out, const RunDescription& run, const RunSnapshot& snapshot);

}  // namespace eventloom
