#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "formats/hit_list.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/hld/hld_origin.hpp"
#include "io/lmd/lmd_hits.hpp"

namespace eventloom {

/// What the hits of a source are.
enum class HitKind { plain, lmd_subevent, hld_subevent };
struct HitOrigin {
  HitKind kind = HitKind::plain;
  HldOrigin hld = {};
};
/// From the description of a source, the text in the header of its stream.
HitOrigin hit_origin_of(std::string_view description);

/// An HLD subevent of a built event, or an event without any.
struct HldItem {
  HldHit hit;
  std::uint16_t source = 0;
};

/// The hits of an event by what they stand for, each kind in the order of the event. Views into its payload.
struct EventItems {
  std::vector<LmdHit> lmd;
  std::vector<HldItem> hld;
  HitList others;  ///< all other hits
};

/// Sorts hits by what they stand for.
class EventSplitter {
 public:
  /// `origins`: of each source of the run. `tick_ps`: 0 where times are event numbers.
  EventSplitter(std::vector<HitOrigin> origins, std::uint64_t tick_ps)
      : origins_(std::move(origins)), items_{{}, {}, HitList(tick_ps)} {}

  /// Valid until the next call, and as long as `event`.
  const EventItems& split(const EventHits& event);

 private:
  bool take(std::uint16_t source, std::span<const std::uint32_t> payload);

  std::vector<HitOrigin> origins_;
  EventItems items_;
};

}  // namespace eventloom
