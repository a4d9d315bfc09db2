#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace eventloom {

/// Merges chains of parts. `next(chain)` returns the key of the next item of a chain, or std::nullopt at its end.
/// `take(chain, limit)` is called for the chain with the least key. It takes at least one item, may take all below
/// `limit`, the least key of the other chains, and returns false to stop.
template <class Next, class Take>
void take_in_order(std::size_t chains, Next next, Take take) {
  using Head = std::pair<std::uint64_t, std::size_t>;  // key, chain index
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto advance = [&](std::size_t chain) {
    if (const std::optional<std::uint64_t> key = next(chain)) heads.emplace(*key, chain);
  };
  for (std::size_t i = 0; i < chains; ++i) advance(i);
  while (!heads.empty()) {
    const auto chain = heads.top().second;
    heads.pop();
    if (!take(chain, heads.empty() ? std::numeric_limits<std::uint64_t>::max() : heads.top().first)) return;
    advance(chain);
  }
}

}  // namespace eventloom
