#include "app/view/inspect/hit_text.hpp"

#include "core/runtime/format.hpp"
#include "formats/trb.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kTagMask = (1U << kTrbTagBits) - 1;

HitText text_of(const LmdHit& hit, std::span<const std::uint32_t> payload) {
  HitText text{.stands_for_event = true,
               .number = hit.number,
               .event = fmt::format("trigger {}", hit.trigger),
               .head_bytes = sizeof(LmdEventHeader),
               .has_item = hit.subevent.has_value()};
  if (!hit.subevent) return text;
  const auto& sub = *hit.subevent;
  text.item_bytes = sub.bytes();
  text.item = fmt::format("control {}  crate {}  procid {}  type {}/{}  bytes {}", sub.control, sub.crate, sub.procid,
                          sub.type, sub.subtype, text.item_bytes);
  text.words = payload.last(sub.words());
  return text;
}

HitText text_of(const HldHit& hit, std::span<const std::uint32_t> payload) {
  const HldEventHeader event{.id = hit.event_id, .number = hit.event_number};
  HitText text{.stands_for_event = true,
               .number = hit.event_number,
               .event = fmt::format("trigger {}{}", event.trigger(), event.has_error() ? "  error bit" : ""),
               .head_bytes = kHldEventHeaderBytes,
               .has_item = hit.subevent.has_value()};
  if (!hit.subevent) return text;
  const auto& sub = *hit.subevent;
  text.item_bytes = hld_padded(sub.size);
  text.item =
      fmt::format("id 0x{:04x}  trigger {}  number {}  tag 0x{:02x}  {}-endian  bytes {}{}", sub.id & ~kHldErrorBit,
                  sub.trigger(), sub.trigger_number >> kTrbTagBits, sub.trigger_number & kTagMask,
                  sub.big_endian ? "big" : "little", sub.size, sub.has_error() ? "  error bit" : "");
  text.words = payload.last((hit.data.size() + 3) / 4);
  return text;
}

}  // namespace

HitText text_of_hit(const HitOrigin& origin, std::uint32_t channel, std::span<const std::uint32_t> payload) {
  if (origin.kind == HitKind::lmd_subevent) {
    if (const auto hit = read_lmd_hit(payload)) return text_of(*hit, payload);
  }
  if (origin.kind == HitKind::hld_subevent) {
    if (const auto hit = read_hld_hit(payload, origin.hld)) return text_of(*hit, payload);
  }
  return {.item = fmt::format("channel 0x{:07x}", channel), .words = payload};
}

}  // namespace eventloom
