#include "io/sources/block_losses.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

/// Losses of a block that are kept apart.
constexpr std::size_t kMaxLosses = 4096;

}  // namespace

void add_loss(HitBlock& block, const Loss& loss) {
  auto& losses = block.losses;
  if (losses.size() >= kMaxLosses) {
    const std::size_t recent = std::min(losses.size(), 2 * kDropCauses);
    for (auto other = losses.end() - static_cast<std::ptrdiff_t>(recent); other != losses.end(); ++other) {
      if (other->before != loss.before || other->cause != loss.cause) continue;
      other->hits += std::min(loss.hits, std::numeric_limits<std::uint32_t>::max() - other->hits);
      other->leaves_hole |= loss.leaves_hole;
      other->breaks_off |= loss.breaks_off;
      return;
    }
  }
  losses.push_back(loss);
}

void take_back_hits(HitBlock& block, std::size_t first_hit, std::size_t at, Loss loss) {
  loss.before = first_hit;
  loss.hits = static_cast<std::uint32_t>(block.size() - first_hit);
  block.truncate(first_hit);
  if (at >= block.losses.size() || block.losses.size() >= kMaxLosses) {
    add_loss(block, loss);
  } else {
    block.losses.insert(block.losses.begin() + static_cast<std::ptrdiff_t>(at), loss);
  }
}

}  // namespace eventloom
