#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/hit_copy.hpp"
#include "core/definitions/event_list.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Copies only the hits of events into the columns of a BuiltSlice, and counts the slice's hits inside and outside
/// events.
class EventCollector {
 public:
  /// Replaces `out.events` and `out.hits`; sets `hits_in_events` and `hits_outside` of its ledger row. `keys`: all
  /// hits in time order.
  void collect(const DecodedHits& hits, std::span<const HitKey> keys, const EventList& events,
               const SliceBounds& bounds, bool with_payload, BuiltSlice& out);

 private:
  /// Replaces blocks_ with the hits of the events, joining adjacent events.
  void join_events(std::span<const EventRange> events);

  std::vector<KeyBlock> blocks_;
};

}  // namespace eventloom
