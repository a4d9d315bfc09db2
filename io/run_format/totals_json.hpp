#pragma once

#include "core/dataflow/run_totals.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// RunTotals and PartInfo as JSON, for a run's report and the lists of finished parts. The readers throw
/// JsonError when a member is missing or has the wrong type.
Json to_json(const RunTotals& totals);
RunTotals totals_from_json(const Json& json);

Json to_json(const PartInfo& part);
PartInfo part_from_json(const Json& json);

}  // namespace eventloom
