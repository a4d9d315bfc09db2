#pragma once

#include "core/definitions/event_definition.hpp"

namespace eventloom {

/// The same definition, applied to the hits of each source alone. Events of different sources may overlap in time and
/// begin at the same tick; they are ordered by their first hits. Throws std::invalid_argument for events by number,
/// which consist of the hits of all sources.
EventDefinitionPtr per_source(EventDefinitionPtr definition);

}  // namespace eventloom
