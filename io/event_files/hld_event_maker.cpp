#include "io/event_files/hld_event_maker.hpp"

#include <algorithm>
#include <span>

#include "io/hld/hld_writer.hpp"

namespace eventloom {

namespace {

__extension__ using WideTime = __int128;

constexpr std::uint32_t kBuiltByDabc = 0x2000;  ///< version 2 in bits 12 to 15 of the id
constexpr std::uint32_t kTriggerBits = 0xf;
constexpr std::uint32_t kTagBits = 0xff;
constexpr std::uint32_t kWordsOf32Bits = 0x00020011;

bool same_event(const HldItem& a, const HldItem& b) {
  return a.source == b.source && a.hit.event_number == b.hit.event_number && a.hit.event_id == b.hit.event_id;
}

bool same_tag(const HldItem& a, const HldItem& b) {
  if (!a.hit.subevent || !b.hit.subevent) return true;
  return ((a.hit.subevent->trigger_number ^ b.hit.subevent->trigger_number) & kTagBits) == 0;
}

std::uint32_t id_of_several(std::span<const HldItem> items) {
  std::uint32_t trigger = 0;
  bool error = false;
  for (const auto& item : items) {
    if (trigger == 0) trigger = item.hit.event_id & kTriggerBits;
    error = error || (item.hit.event_id & kHldErrorBit) != 0 || !same_tag(items.front(), item);
  }
  return kBuiltByDabc | trigger | (error ? kHldErrorBit : 0);
}

std::chrono::sys_seconds utc_second(std::int64_t tick_0_ns, Tick time, std::uint64_t tick_ps) {
  constexpr WideTime kSecond = 1'000'000'000'000;
  const auto ps = WideTime{tick_0_ns} * 1000 + WideTime{time.value} * tick_ps;
  return std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(ps / kSecond)));
}

}  // namespace

void HldEventMaker::begin_run(std::uint32_t run) {
  run_.run = run;
  set_hld_time(run_, kHldRunZero + std::chrono::seconds(run));
}

HldEventHeader HldEventMaker::header(const EventItems& items, std::uint64_t number) const {
  auto header = run_;
  header.number = static_cast<std::uint32_t>(number);
  header.id = kBuiltByDabc | 1;
  if (items.hld.empty()) return header;
  const auto& first = items.hld.front();
  if (std::ranges::all_of(items.hld, [&](const HldItem& item) { return same_event(first, item); })) {
    header.id = first.hit.event_id;
    header.number = first.hit.event_number;
  } else {
    header.id = id_of_several(items.hld);
  }
  return header;
}

std::size_t HldEventMaker::begin(const EventItems& items, Tick time, std::uint64_t number,
                                 std::vector<std::byte>& to) const {
  auto event = header(items, number);
  if (clock_.tick_0_ns) set_hld_time(event, utc_second(*clock_.tick_0_ns, time, clock_.tick_ps));
  const auto begin = begin_hld_event(event, to);
  for (const auto& item : items.hld) {
    if (item.hit.subevent) append_hld_subevent(*item.hit.subevent, item.hit.data, to);
  }
  return begin;
}

void HldEventMaker::append(const EventItems& items, Tick time, std::uint64_t number, std::vector<std::byte>& to) const {
  end_hld_event(begin(items, time, number, to), to);
}

void HldEventMaker::append_all(const EventItems& items, Tick time, std::uint64_t number,
                               std::vector<std::byte>& to) const {
  const auto at = begin(items, time, number, to);
  if (!items.others.empty()) {
    const auto data = std::as_bytes(items.others.words());
    append_hld_subevent({.size = static_cast<std::uint32_t>(kHldSubeventHeaderBytes + data.size()),
                         .decoding = kWordsOf32Bits,
                         .id = kHitListId,
                         .trigger_number = header(items, number).number << 8},
                        data, to);
  }
  end_hld_event(at, to);
}

}  // namespace eventloom
