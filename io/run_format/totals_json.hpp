#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/dataflow/run_totals.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// RunTotals and PartInfo as JSON, for a run's report and the lists of finished parts. The readers throw
/// nlohmann::json::exception when a member is missing or has the wrong type.
nlohmann::ordered_json to_json(const RunTotals& totals);
RunTotals totals_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json to_json(const PartInfo& part);
PartInfo part_from_json(const nlohmann::ordered_json& json);

}  // namespace eventloom
