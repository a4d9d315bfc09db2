#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// {"subject", "level", "what", "meaning", "mend", "measured": null or {"least", "most", "unit"}, "hosts"}
nlohmann::ordered_json finding_json(const Finding& finding);
Finding finding_of(const nlohmann::json& json);

/// {"format", "ranks", "hosts", "warnings", "findings"}. `what` includes the measured numbers.
nlohmann::ordered_json findings_json(const std::vector<Finding>& findings, int ranks,
                                     const std::vector<std::string>& hosts);

}  // namespace eventloom
