#include "core/definitions/hit_selection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace eventloom {

std::uint64_t count_channels(std::span<const SelectedHit> hits) {
  std::vector<std::uint64_t> seen;
  seen.reserve(hits.size());
  for (const auto& hit : hits) seen.push_back(std::uint64_t{hit.source} << 32 | hit.channel);
  std::ranges::sort(seen);
  return static_cast<std::uint64_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

double sum_of_values(std::span<const SelectedHit> hits) {
  double sum = 0;
  for (const auto& hit : hits) sum += std::isnan(hit.value) ? 0 : hit.value;
  return sum;
}

std::optional<double> largest_value(std::span<const SelectedHit> hits) {
  std::optional<double> largest;
  for (const auto& hit : hits) {
    if (!std::isnan(hit.value)) largest = std::max(largest.value_or(hit.value), hit.value);
  }
  return largest;
}

bool in_order(std::span<const SelectedHit> before, std::span<const SelectedHit> after) {
  return !before.empty() && !after.empty() && before.front().tick <= after.front().tick;
}

}  // namespace eventloom
