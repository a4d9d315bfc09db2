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

/// The origin of a source's hits.
enum class HitKind { plain, lmd_subevent, hld_subevent };
struct HitOrigin {
  HitKind kind = HitKind::plain;
  HldOrigin hld = {};
};
/// Derives the origin from a source's description, the text in the header of its stream.
HitOrigin hit_origin_of(std::string_view description);

/// An HLD subevent of a built event, or an HLD event without subevents.
struct HldItem {
  HldHit hit;
  std::uint16_t source = 0;
};

/// The hits of an event by origin, each kind in the order of the event. Contains views into its payload.
struct EventItems {
  std::vector<LmdHit> lmd;
  std::vector<HldItem> hld;
  HitList others;  ///< all other hits
};

/// Splits the hits of events by origin.
class EventSplitter {
 public:
  /// `origins`: one per source of the run. `tick_ps`: 0 if times are event numbers.
  EventSplitter(std::vector<HitOrigin> origins, std::uint64_t tick_ps)
      : origins_(std::move(origins)), items_{{}, {}, HitList(tick_ps)} {}

  /// The result is valid until the next call and while `event` is.
  const EventItems& split(const EventHits& event);

 private:
  bool take(std::uint16_t source, std::span<const std::uint32_t> payload);

  std::vector<HitOrigin> origins_;
  EventItems items_;
};

}  // namespace eventloom
