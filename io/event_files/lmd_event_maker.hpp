#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/event_files/event_items.hpp"
#include "io/event_files/hld_event_maker.hpp"

namespace eventloom {

/// Makes LMD events from built events.
///
/// An event has its LMD subevents unchanged, in the order of the event; a subevent with id 0x1f that holds an HLD event
/// with its HLD subevents, as DABC's stream server sends it; and a subevent with its other hits (formats/hit_list.hpp).
/// Its header is copied from the event of the first LMD subevent. If there is none, trigger and number come from the
/// HLD event, or else are 1 and the number in the output.
class LmdEventMaker {
 public:
  LmdEventMaker(EventSplitter splitter, HldEventMaker hld) : splitter_(std::move(splitter)), hld_(hld) {}

  /// `number`: number of the event in the output, from 1. The result is valid until the next call and while `event` is.
  LmdEvent& make(const EventHits& event, std::uint64_t number);

 private:
  void set_header(const EventItems& items, std::uint64_t number);
  void add_own(std::uint16_t procid, std::span<const std::byte> data);

  EventSplitter splitter_;
  HldEventMaker hld_;
  LmdEvent event_;
  std::vector<std::byte> hld_bytes_;
};

}  // namespace eventloom
