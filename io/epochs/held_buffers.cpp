#include "io/epochs/held_buffers.hpp"

namespace eventloom {

void collect_held(const std::deque<HeldBuffers>& held, EpochRange epochs,
                  std::vector<std::span<const std::byte>>& out) {
  for (const auto& chunk : held) {
    if (chunk.end() <= epochs.begin) continue;
    if (chunk.buffers.front().first_epoch >= epochs.end) break;
    const auto first = chunk.first_behind(epochs.begin);
    const auto last = chunk.first_from(epochs.end);
    if (first >= last) continue;
    const std::size_t end = last == chunk.buffers.end() ? chunk.bytes.size() : last->offset;
    out.push_back(std::span(chunk.bytes).subspan(first->offset, end - first->offset));
  }
}

std::optional<Epoch> next_held(const std::deque<HeldBuffers>& held, Epoch from) {
  const auto last_begin = [](const HeldBuffers& chunk) { return chunk.buffers.back().first_epoch; };
  const auto chunk = std::ranges::lower_bound(held, from, {}, last_begin);
  if (chunk == held.end()) return std::nullopt;
  return chunk->first_from(from)->first_epoch;
}

}  // namespace eventloom
