#pragma once

#include <span>

#include "core/dataflow/decode.hpp"
#include "core/definitions/event_list.hpp"

namespace eventloom {

/// Puts into `events` those that a run with the same definition and overlap has tagged. False, and none, when the
/// tags cannot be right. `keys`: the hits in time order.
bool take_tagged_events(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                        EventList& events);

}  // namespace eventloom
