#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/define.hpp"
#include "core/dataflow/time_sort.hpp"
#include "formats/event.hpp"

namespace eventloom {

/// Copies the events that were found, and nothing else, into the columns of a BuiltSlice, and counts
/// the slice's hits inside and outside of them.
class EventCollector {
 public:
  /// Replaces `out.events` and `out.hits`; sets `hits_in_events` and `hits_outside` of its ledger row.
  void collect(const DecodedHits& hits, std::span<const HitKey> keys, std::span<const EventRange> events,
               const DefineWindow& window, bool with_payload, BuiltSlice& out);

 private:
  /// Sorted hits [begin, end), of one event or of several that lie side by side.
  struct Block {
    std::uint32_t begin;
    std::uint32_t end;
  };
  void join_events(std::span<const EventRange> events);

  std::vector<Block> blocks_;
};

/// Enters what is lost into the ledger row and the list of missing sources, and flags the events that
/// may lack hits. The events must be in `out`.
void account_for_damage(std::span<const SourceDamage> damage, const SliceGeometry& geometry, BuiltSlice& out);

}  // namespace eventloom
