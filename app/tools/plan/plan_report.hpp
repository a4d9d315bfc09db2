#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/tools/plan/launch.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Formats ascending numbers as ranges: "3", "0-62", or with a step, "0,4..248".
std::string ranges_text(const std::vector<std::uint32_t>& rising);

/// Returns the plan as text: nodes, memory, how to start it, and the reasons.
std::string plan_text(const Plan& plan, const PlanNames& names);

/// Returns the same as JSON, including each rank.
Json plan_json(const Plan& plan, const PlanNames& names);

}  // namespace eventloom
