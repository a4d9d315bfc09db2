#include <algorithm>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

namespace {

template <class T>
std::vector<T> behind(const std::vector<T>& all, std::size_t first) {
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

}  // namespace

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

HitBlock HitBlock::cut(std::size_t hits) {
  const std::size_t words = payload_begin.empty() ? payload.size() / size() * hits : payload_begin[hits];
  HitBlock rest;
  rest.time = behind(time, hits);
  rest.channel = behind(channel, hits);
  rest.payload = behind(payload, words);
  if (!payload_begin.empty()) rest.payload_begin = behind(payload_begin, hits);
  for (auto& word : rest.payload_begin) word -= static_cast<std::uint32_t>(words);
  const auto of_rest = std::ranges::find_if(losses, [hits](const Loss& loss) { return loss.before >= hits; });
  rest.losses.assign(of_rest, losses.end());
  losses.erase(of_rest, losses.end());
  for (auto& loss : rest.losses) loss.before -= hits;
  truncate(hits);
  return rest;
}

void HitBlock::clear() {
  time.clear();
  channel.clear();
  payload.clear();
  payload_begin.clear();
  losses.clear();
}

}  // namespace eventloom
