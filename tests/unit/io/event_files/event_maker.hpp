#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/event_files/event_items.hpp"

/// Built events, and bytes composed of words, written from the descriptions of the formats alone.
namespace eventloom::test {

using Words = std::vector<std::uint32_t>;

/// Hits in columns.
struct MadeEvent {
  std::vector<Tick> times;
  std::vector<std::uint32_t> channels;
  std::vector<std::uint16_t> sources;
  std::vector<std::uint32_t> payload_words;
  Words payload;

  MadeEvent& hit(Tick time, std::uint16_t source, std::uint32_t channel, const Words& words = {}) {
    times.push_back(time);
    channels.push_back(channel);
    sources.push_back(source);
    payload_words.push_back(static_cast<std::uint32_t>(words.size()));
    payload.insert(payload.end(), words.begin(), words.end());
    return *this;
  }
  /// Adds a hit with LMD payload: a subevent 10/1 with the id 5.
  MadeEvent& lmd(Tick time, std::uint16_t source, std::uint32_t number, std::uint32_t trigger, const Words& data) {
    const auto n = static_cast<std::uint32_t>(data.size());
    Words words = {5 + n, trigger << 16, number, 2 + 2 * n, 1 << 16 | 10, 5};
    words.insert(words.end(), data.begin(), data.end());
    return hit(time, source, 5, words);
  }
  /// Adds a hit with HLD payload: a subevent 0x8000.
  MadeEvent& hld(Tick time, std::uint16_t source, std::uint32_t number, std::uint32_t id, std::uint32_t tag,
                 const Words& data) {
    const auto n = static_cast<std::uint32_t>(data.size());
    Words words = {7 + n, (id & 0xfU) << 16, id, number, 16 + 4 * n, 0x00020011, 0x8000, 77U << 8 | tag};
    words.insert(words.end(), data.begin(), data.end());
    return hit(time, source, 0x8000, words);
  }

  [[nodiscard]] EventHits view() const {
    return {.time = times.front(),
            .times = times,
            .channels = channels,
            .sources = sources,
            .payload_words = payload_words,
            .payload = payload};
  }
};

/// Sources 0 and 1 are LMD, 2 and 3 HLD with little-endian subevents, 4 is neither.
inline std::vector<HitOrigin> origins() {
  const HldOrigin little{.run = 7, .big_endian = false, .others = {}};
  return {{HitKind::lmd_subevent, {}},
          {HitKind::lmd_subevent, {}},
          {HitKind::hld_subevent, little},
          {HitKind::hld_subevent, little},
          {}};
}

inline Words words_of(std::span<const std::byte> bytes) {
  Words words(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    words[i / 4] |= static_cast<std::uint32_t>(bytes[i]) << 8 * (i % 4);
  }
  return words;
}

inline Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace eventloom::test
