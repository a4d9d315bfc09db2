#pragma once

#include <cstdint>
#include <vector>

#include "core/dataflow/event_search.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The hits of a slice by live source, including lost ones; if all sources are live, they add up to its `hits_in`.
/// `live`: indexed by source number, nonzero for sources to count. `slice.keys`: all hits, including those
/// excluded from events by number.
std::vector<SourceHits> count_live_hits(const SliceHits& slice, EpochRange owned,
                                        const std::vector<std::uint8_t>& live);

}  // namespace eventloom
