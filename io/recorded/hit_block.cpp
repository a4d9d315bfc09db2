#include <algorithm>
#include <utility>

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
    // The division, once per hit, would cost as much as the rest.
    const std::size_t words = payload.size() == time.size() ? 1 : payload.size() / time.size();
    return all.subspan(i * words, words);
  }
  const std::size_t end = i + 1 < payload_begin.size() ? payload_begin[i + 1] : payload.size();
  return all.subspan(payload_begin[i], end - payload_begin[i]);
}

std::size_t HitBlock::words_before(std::size_t hit) const {
  if (hit >= size()) return payload.size();
  return payload_begin.empty() ? payload.size() / size() * hit : payload_begin[hit];
}

void HitBlock::truncate(std::size_t hits) {
  if (hits >= size()) return;
  payload.resize(words_before(hits));
  if (!payload_begin.empty()) payload_begin.resize(hits);
  time.resize(hits);
  channel.resize(hits);
  for (auto& loss : losses) loss.before = std::min(loss.before, hits);
}

HitBlock HitBlock::cut(std::size_t hits, std::size_t n_losses) {
  const std::size_t words = words_before(hits);
  HitBlock rest;
  rest.time = behind(time, hits);
  rest.channel = behind(channel, hits);
  rest.payload = behind(payload, words);
  if (!payload_begin.empty()) rest.payload_begin = behind(payload_begin, hits);
  for (auto& word : rest.payload_begin) word -= static_cast<std::uint32_t>(words);
  n_losses = std::min(n_losses, losses.size());
  rest.losses = behind(losses, n_losses);
  for (auto& loss : rest.losses) loss.before -= std::min(loss.before, hits);
  losses.resize(n_losses);
  truncate(hits);
  return rest;
}

void HitBlock::append(const HitBlock& next) {
  for (const auto& loss : next.losses) {
    losses.push_back(loss);
    losses.back().before += size();
  }
  if (next.size() == 0) return;
  const bool uniform = payload_begin.empty() && next.payload_begin.empty() &&
                       (size() == 0 || payload.size() / size() == next.payload.size() / next.size());
  if (!uniform) {
    auto begins = begins_of_payload();
    for (const auto begin : next.begins_of_payload())
      begins.push_back(static_cast<std::uint32_t>(payload.size()) + begin);
    payload_begin = std::move(begins);
  }
  payload.insert(payload.end(), next.payload.begin(), next.payload.end());
  time.insert(time.end(), next.time.begin(), next.time.end());
  channel.insert(channel.end(), next.channel.begin(), next.channel.end());
}

std::vector<std::uint32_t> HitBlock::begins_of_payload() const {
  std::vector<std::uint32_t> begins(size());
  for (std::size_t i = 0; i < size(); ++i) begins[i] = static_cast<std::uint32_t>(words_before(i));
  return begins;
}

void HitBlock::clear() {
  time.clear();
  channel.clear();
  payload.clear();
  payload_begin.clear();
  losses.clear();
}

}  // namespace eventloom
