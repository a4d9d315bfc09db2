#include <algorithm>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

std::span<const std::uint32_t> HitBlock::payload_of(std::size_t i) const {
  const std::span all(payload);
  if (payload_begin.empty()) {
    const std::size_t words = payload.size() / time.size();
    return all.subspan(i * words, words);
  }
  const std::size_t end = i + 1 < payload_begin.size() ? payload_begin[i + 1] : payload.size();
  return all.subspan(payload_begin[i], end - payload_begin[i]);
}

void HitBlock::truncate(std::size_t hits) {
  if (hits >= size()) return;
  payload.resize(payload_begin.empty() ? payload.size() / size() * hits : payload_begin[hits]);
  if (!payload_begin.empty()) payload_begin.resize(hits);
  time.resize(hits);
  channel.resize(hits);
  for (auto& loss : losses) loss.before = std::min(loss.before, hits);
}

void HitBlock::clear() {
  time.clear();
  channel.clear();
  payload.clear();
  payload_begin.clear();
  losses.clear();
}

}  // namespace eventloom
