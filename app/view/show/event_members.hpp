#pragma once

#include "core/runtime/json.hpp"
#include "io/run_input/output_event.hpp"

namespace eventloom {

/// Returns an event, with all of its hits that were read, as a JSON object.
Json event_members(const OutputEvent& event);

}  // namespace eventloom
