#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/run/run_setup.hpp"
#include "core/dataflow/unplaced_hits.hpp"

namespace eventloom {

/// Logs how many hits have no position, and of which sources and channels they are, as one warning.
void report_unplaced(const RunSetup& setup, const UnplacedHits& unplaced);

nlohmann::ordered_json to_json(const UnplacedHits& unplaced);
/// Adds what to_json() of another rank says.
void add_unplaced(const nlohmann::json& theirs, UnplacedHits& unplaced);

}  // namespace eventloom
