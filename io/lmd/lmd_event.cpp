#include "io/lmd/lmd_event.hpp"

#include <algorithm>
#include <cstring>

namespace eventloom {

std::uint32_t LmdSubevent::word(std::size_t i) const {
  std::uint32_t value = 0;
  const auto rest = data.subspan(4 * i);
  std::memcpy(&value, rest.data(), std::min<std::size_t>(rest.size(), sizeof value));
  return value;
}

bool read_lmd_event(std::span<const std::byte> bytes, LmdEvent& event) {
  event.subevents.clear();
  if (bytes.size() < sizeof(LmdEventHeader)) return false;
  const auto head = load_lmd<LmdEventHeader>(bytes);
  event.dlen = head.element.dlen;
  event.trigger = head.trigger;
  event.dummy = head.dummy;
  event.number = head.number;
  bytes = bytes.subspan(sizeof head);
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(LmdSubeventHeader) || event.subevents.size() == kMaxLmdSubevents) return false;
    const auto sub = load_lmd<LmdSubeventHeader>(bytes);
    if (sub.element.dlen < LmdSubeventHeader::kMinDlen || sub.element.bytes() > bytes.size()) return false;
    const auto size = static_cast<std::size_t>(sub.element.bytes());
    event.subevents.push_back({.dlen = sub.element.dlen,
                               .type = sub.element.type,
                               .subtype = sub.element.subtype,
                               .procid = sub.procid,
                               .crate = sub.crate,
                               .control = sub.control,
                               .data = bytes.subspan(sizeof sub, size - sizeof sub)});
    bytes = bytes.subspan(size);
  }
  return true;
}

std::uint32_t count_lmd_items(std::span<const std::byte> bytes) {
  LmdEvent event;
  const bool whole = read_lmd_event(bytes, event);
  return static_cast<std::uint32_t>(event.subevents.size()) + (whole && !event.subevents.empty() ? 0 : 1);
}

}  // namespace eventloom
