#include "io/lmd/lmd_hits.hpp"

#include <cstring>

#include "formats/lmd.hpp"

namespace eventloom {

std::string_view lmd_hit_rule() {
  return "GSI list-mode data (LMD), a hit per subevent.\n"
         "Channel: (control & 0x3f) << 22 | (crate & 0x3f) << 16 | procid.\n"
         "Payload, 32-bit words: number of words that follow; trigger << 16 | dummy; event number; l_dlen;\n"
         "subtype << 16 | type; control << 24 | crate << 16 | procid; data (a last 16-bit word filled up with zero).\n"
         "An event without subevents: channel 0x0fffffff; payload 2, trigger << 16 | dummy, event number.\n";
}

void LmdHitMaker::append(const LmdEvent& event, Tick time, HitBlock& block) {
  const std::size_t at = block.payload.size();
  const std::uint32_t trigger = std::uint32_t{event.trigger} << 16 | event.dummy;
  if (event.subevents.empty()) {
    block.payload.insert(block.payload.end(), {kLmdEventWords - 1, trigger, event.number});
    block.payload_begin.push_back(static_cast<std::uint32_t>(at));
    block.channel.push_back(kLmdEmptyEventChannel);
    block.time.push_back(time);
    return;
  }
  std::size_t words = 0;
  for (const auto& sub : event.subevents) words += kLmdItemWords + sub.words();
  block.payload.resize(at + words);
  std::uint32_t* out = block.payload.data() + at;
  for (const auto& sub : event.subevents) {
    const std::uint32_t id = sub.id();
    folded_ += lmd_id_is_folded(id) ? 1 : 0;
    block.payload_begin.push_back(static_cast<std::uint32_t>(out - block.payload.data()));
    block.channel.push_back(lmd_channel(id));
    block.time.push_back(time);
    out[0] = static_cast<std::uint32_t>(kLmdItemWords - 1 + sub.words());
    out[1] = trigger;
    out[2] = event.number;
    out[3] = sub.dlen;
    out[4] = std::uint32_t{sub.subtype} << 16 | sub.type;
    out[kLmdIdWord] = id;
    if (!sub.data.empty()) std::memcpy(out + kLmdItemWords, sub.data.data(), sub.data.size());
    out += kLmdItemWords + sub.words();
  }
}

bool lmd_hits_begin(const HitBlock& block, std::size_t first, const LmdEvent& event) {
  const std::size_t hits = block.size() - first;
  if (hits == 1 && block.payload_of(first).size() == kLmdEventWords) return !event.subevents.empty();
  if (hits == 0 || hits >= event.subevents.size()) return false;
  for (std::size_t i = 0; i < hits; ++i) {
    if (block.payload_of(first + i)[kLmdIdWord] != event.subevents[i].id()) return false;
  }
  return true;
}

std::optional<LmdHit> read_lmd_hit(std::span<const std::uint32_t> payload) {
  if (payload.size() < kLmdEventWords || payload[0] != payload.size() - 1) return std::nullopt;
  LmdHit hit{.trigger = static_cast<std::uint16_t>(payload[1] >> 16),
             .dummy = static_cast<std::uint16_t>(payload[1]),
             .number = payload[2]};
  if (payload.size() == kLmdEventWords) return hit;
  if (payload.size() < kLmdItemWords || payload[3] < LmdSubeventHeader::kMinDlen) return std::nullopt;
  const auto bytes = 2 * (std::size_t{payload[3]} - LmdSubeventHeader::kMinDlen);
  const auto data = std::as_bytes(payload.subspan(kLmdItemWords));
  if (data.size() != (bytes + 3) / 4 * 4) return std::nullopt;
  const auto id = payload[kLmdIdWord];
  hit.subevent = {.dlen = payload[3],
                  .type = static_cast<std::uint16_t>(payload[4]),
                  .subtype = static_cast<std::uint16_t>(payload[4] >> 16),
                  .procid = static_cast<std::uint16_t>(id),
                  .crate = static_cast<std::uint8_t>(id >> 16),
                  .control = static_cast<std::uint8_t>(id >> 24),
                  .data = data.first(bytes)};
  return hit;
}

}  // namespace eventloom
