#pragma once

#include "app/run/run_setup.hpp"
#include "core/dataflow/unplaced_hits.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Logs how many hits have no position, and of which sources and channels they are, as one warning.
void report_unplaced(const RunSetup& setup, const UnplacedHits& unplaced);

Json to_json(const UnplacedHits& unplaced);
/// Adds what to_json() of another rank says.
void add_unplaced(const Json& theirs, UnplacedHits& unplaced);

}  // namespace eventloom
