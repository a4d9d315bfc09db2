#pragma once

#include "core/runtime/json.hpp"
#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// Converts an alarm that was raised to JSON, with members of the same names; "over" is null if it was still
/// active at the end.
Json to_json(const AlarmRecord& alarm);

}  // namespace eventloom
