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

/// Makes LMD events of built events.
///
/// An event has its LMD subevents unchanged, in the order of the event; a subevent of id 0x1f that holds an HLD event
/// with its HLD subevents, as DABC's stream server sends it; and a subevent with its other hits (formats/hit_list.hpp).
/// Its header is that of the event that the first LMD subevent belongs to. Without one, its trigger and number are
/// those of the HLD event, or else 1 and the number in the output.
class LmdEventMaker {
 public:
  LmdEventMaker(EventSplitter splitter, HldEventMaker hld) : splitter_(std::move(splitter)), hld_(hld) {}

  /// `number`: it is the number-th of the output, from 1. Valid until the next call, and as long as `event`.
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
