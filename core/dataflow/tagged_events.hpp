#pragma once

#include <span>

#include "core/dataflow/decoded_hits.hpp"
#include "core/definitions/event_list.hpp"

namespace eventloom {

/// Puts the events tagged by a run with the same definition and overlap into `events`. Returns false, and puts none, if
/// the tags are invalid. `keys`: the hits in time order.
bool take_tagged_events(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                        EventList& events);

}  // namespace eventloom
