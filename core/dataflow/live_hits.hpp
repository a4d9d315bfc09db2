#pragma once

#include <cstdint>
#include <vector>

#include "core/dataflow/event_search.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The hits of a slice by live source, lost ones included: those of live sources alone add up to its `hits_in`.
/// `live`: by number of the source, not 0 for those to count. `slice.keys`: of all hits, not only of those that events
/// by number keep.
std::vector<SourceHits> count_live_hits(const SliceHits& slice, EpochRange owned,
                                        const std::vector<std::uint8_t>& live);

}  // namespace eventloom
