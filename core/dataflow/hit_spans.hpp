#pragma once

#include <cstdint>
#include <map>

#include "core/dataflow/decoded_hits.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// First and last tick of the hits of a source, as recorded.
struct HitSpan {
  Tick first = 0;
  Tick last = 0;
};
/// The spans of all sources that have hits, by number of the source.
using HitSpans = std::map<std::uint32_t, HitSpan>;

void add_span(HitSpans& spans, std::uint32_t source, HitSpan span);

/// Adds the decoded hits of each stream. Where the times within epochs are not in order, whole epochs count.
void add_spans(HitSpans& spans, const DecodedHits& hits, std::uint32_t epoch_ticks);

}  // namespace eventloom
