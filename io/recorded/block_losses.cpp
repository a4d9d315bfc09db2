#include "io/recorded/block_losses.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace eventloom {

namespace {

/// Maximum number of losses of a block that are kept as separate records.
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

void join_loss(HitBlock& block, const Loss& loss) {
  auto& losses = block.losses;
  const bool joins = !losses.empty() && losses.back().before == loss.before && losses.back().cause == loss.cause;
  if (!joins) return add_loss(block, loss);
  losses.back().hits += loss.hits;
}

void leave_out_hits(HitBlock& block, const std::vector<bool>& goes, std::optional<DropCause> cause) {
  HitBlock kept;
  auto loss = block.losses.begin();
  const auto move_losses = [&](std::size_t before) {
    for (; loss != block.losses.end() && loss->before <= before; ++loss) {
      kept.losses.push_back(*loss);
      kept.losses.back().before = kept.size();
    }
  };
  for (std::size_t i = 0; i < block.size(); ++i) {
    move_losses(i);
    if (goes[i]) {
      if (!cause) continue;
      const bool joins = !kept.losses.empty() && kept.losses.back().before == kept.size() &&
                         kept.losses.back().cause == cause && !kept.losses.back().leaves_hole;
      if (!joins) kept.losses.push_back({.before = kept.size(), .cause = *cause});
      ++kept.losses.back().hits;
      continue;
    }
    const auto payload = block.payload_of(i);
    if (!block.payload_begin.empty()) kept.payload_begin.push_back(static_cast<std::uint32_t>(kept.payload.size()));
    kept.payload.insert(kept.payload.end(), payload.begin(), payload.end());
    kept.time.push_back(block.time[i]);
    kept.channel.push_back(block.channel[i]);
  }
  move_losses(block.size());
  block = std::move(kept);
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
