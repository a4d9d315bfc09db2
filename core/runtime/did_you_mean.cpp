#include "core/runtime/did_you_mean.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace eventloom {

namespace {

bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Edit distance with swaps of neighbours (optimal string alignment), computed row by row.
std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  std::vector<std::size_t> above;
  std::vector<std::size_t> two_above;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = same(a[i - 1], b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + wrong});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view closest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = 0;
  for (const auto candidate : candidates) {
    const std::size_t most = candidate.size() / 3;
    if (name.size() + most < candidate.size() || candidate.size() + most < name.size()) continue;
    const std::size_t errors = typing_errors(name, candidate);
    if (errors > most || (!best.empty() && errors >= fewest)) continue;
    best = candidate;
    fewest = errors;
  }
  if (!best.empty() || name.size() < 3) return best;
  const auto begins = [name](std::string_view candidate) { return candidate.starts_with(name); };
  const auto found = std::ranges::find_if(candidates, begins);
  return found == candidates.end() ? std::string_view() : *found;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const auto meant = closest(name, candidates);
  return meant.empty() || meant == name ? "" : " (did you mean '" + std::string(meant) + "'?)";
}

}  // namespace eventloom
