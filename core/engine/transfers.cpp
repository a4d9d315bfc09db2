#include "core/engine/transfers.hpp"

#include <algorithm>

namespace eventloom {

void Transfers::begin(std::size_t builder, SliceId lowest) { pending_.push_back({builder, kNotPut, lowest}); }

void Transfers::end(std::size_t builder, std::uint64_t cells) {
  const auto last =
      std::find_if(pending_.rbegin(), pending_.rend(), [&](const auto& m) { return m.builder == builder; });
  if (last != pending_.rend()) last->cells = cells;
}

void Transfers::update(std::span<Outbox> outboxes) {
  std::erase_if(pending_, [&](const Pending& m) { return outboxes[m.builder].complete_cells() >= m.cells; });
}

std::optional<std::size_t> Transfers::first_to_end() const {
  std::vector<std::size_t> later;
  std::optional<std::size_t> first;
  for (std::size_t i = pending_.size(); i-- > 0;) {
    const auto [builder, cells, lowest] = pending_[i];
    if (cells == kNotPut || std::ranges::count(later, builder) != 0) continue;
    later.push_back(builder);
    first = builder;
  }
  return first;
}

std::size_t transfers_for(std::uint64_t bytes) {
  constexpr std::uint64_t kWanted = std::uint64_t{2} << 20;
  return std::clamp<std::uint64_t>(kWanted / std::max<std::uint64_t>(bytes, 1), 32, 64);
}

}  // namespace eventloom
