#include "io/event_files/lmd_event_maker.hpp"

#include "io/lmd/lmd_writer.hpp"

namespace eventloom {

namespace {

/// Procid of the subevent in which DABC's stream server sends an HLD event.
constexpr std::uint16_t kHldProcid = 0x1f;

}  // namespace

LmdEvent& LmdEventMaker::make(const EventHits& event, std::uint64_t number) {
  const auto& items = splitter_.split(event);
  event_.subevents.clear();
  for (const auto& hit : items.lmd) {
    if (hit.subevent) event_.subevents.push_back(*hit.subevent);
  }
  hld_bytes_.clear();
  if (!items.hld.empty()) {
    hld_.append(items, event.time, number, hld_bytes_);
    add_own(kHldProcid, hld_bytes_);
  }
  if (!items.others.empty()) add_own(kHitListId, std::as_bytes(items.others.words()));
  set_header(items, number);
  return event_;
}

void LmdEventMaker::set_header(const EventItems& items, std::uint64_t number) {
  event_.dummy = 0;
  event_.trigger = 1;
  event_.number = static_cast<std::uint32_t>(number);
  if (!items.lmd.empty()) {
    event_.dummy = items.lmd.front().dummy;
    event_.trigger = items.lmd.front().trigger;
    event_.number = items.lmd.front().number;
  } else if (!items.hld.empty()) {
    const auto header = hld_.header(items, number);
    event_.trigger = static_cast<std::uint16_t>(header.trigger());
    event_.number = header.number;
  }
  set_lmd_length(event_);
}

void LmdEventMaker::add_own(std::uint16_t procid, std::span<const std::byte> data) {
  event_.subevents.push_back({.dlen = static_cast<std::uint32_t>(LmdSubeventHeader::kMinDlen + data.size() / 2),
                              .type = 10,
                              .subtype = 1,
                              .procid = procid,
                              .data = data});
}

}  // namespace eventloom
