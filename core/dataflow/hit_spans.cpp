#include "core/dataflow/hit_spans.hpp"

#include <algorithm>

#include "formats/geometry.hpp"

namespace eventloom {

void add_span(HitSpans& spans, std::uint32_t source, HitSpan span) {
  auto& all = spans.try_emplace(source, span).first->second;
  all = {std::min(all.first, span.first), std::max(all.last, span.last)};
}

void add_spans(HitSpans& spans, const DecodedHits& hits, std::uint32_t epoch_ticks) {
  for (std::uint32_t s = 0; s < hits.sources.size(); ++s) {
    const auto& of = hits.sources[s];
    if (of.begin == of.end) continue;
    HitSpan span{of.start + Tick(hits.tick_of_hit(of.begin)), of.start + Tick(hits.tick_of_hit(of.end - 1))};
    if (!of.ordered) {
      span.first = tick_of_epoch(epoch_of(span.first, epoch_ticks), epoch_ticks);
      span.last = tick_of_epoch(epoch_of(span.last, epoch_ticks) + 1, epoch_ticks) - 1;
    }
    add_span(spans, s, span);
  }
}

}  // namespace eventloom
