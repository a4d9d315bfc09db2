#include "io/event_files/lmd_format.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "io/lmd/lmd_writer.hpp"

namespace eventloom {

namespace {

/// The subevent in which DABC's stream server sends an HLD event.
constexpr std::uint16_t kHldProcid = 0x1f;

}  // namespace

LmdFormat::LmdFormat(std::string stem, EventSplitter splitter, HldEventMaker hld)
    : stem_(std::move(stem)), splitter_(std::move(splitter)), hld_(hld) {}

std::string LmdFormat::file_name(std::uint32_t number) const { return fmt::format("{}_{:04}.lmd", stem_, number); }

Recognise LmdFormat::ours() const { return is_written_lmd; }

void LmdFormat::begin_file(std::uint32_t, std::vector<std::byte>& to) { append_lmd_header(to); }

void LmdFormat::append(const EventHits& event, std::uint64_t number, std::vector<std::byte>& to) {
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
  append_lmd_event(event_, to);
}

void LmdFormat::set_header(const EventItems& items, std::uint64_t number) {
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

void LmdFormat::add_own(std::uint16_t procid, std::span<const std::byte> data) {
  event_.subevents.push_back({.dlen = static_cast<std::uint32_t>(LmdSubeventHeader::kMinDlen + data.size() / 2),
                              .type = 10,
                              .subtype = 1,
                              .procid = procid,
                              .data = data});
}

}  // namespace eventloom
