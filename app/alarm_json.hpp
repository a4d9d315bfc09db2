#pragma once

#include <nlohmann/json.hpp>

#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// An alarm that was raised: its members by name; "over" is null when it was not over at the end.
nlohmann::ordered_json to_json(const AlarmRecord& alarm);

}  // namespace eventloom
