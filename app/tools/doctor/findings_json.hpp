#pragma once

#include <vector>

#include "app/tools/doctor/findings.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// {"subject", "level", "what", "meaning", "mend", "measured": null or {"least", "most", "unit"}, "hosts"}
Json finding_json(const Finding& finding);
Finding finding_of(const Json& json);

/// {"format", "ranks", "hosts", "warnings", "findings"}. `what` includes the measured numbers.
Json findings_json(const std::vector<Finding>& findings, int ranks, const std::vector<std::string>& hosts);

}  // namespace eventloom
