#include "io/recorded/clock_beginnings.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// The first number behind the longest stretch of a turn in which no source begins; std::nullopt if that is shorter
/// than half a turn.
std::optional<std::uint64_t> earliest_of(std::span<const ClockBeginning> sources, std::uint64_t period) {
  std::vector<std::uint64_t> firsts;
  for (const auto& source : sources) firsts.push_back(source.first);
  std::ranges::sort(firsts);
  std::uint64_t longest = period - firsts.back() + firsts.front();
  auto earliest = firsts.front();
  for (std::size_t i = 1; i < firsts.size(); ++i) {
    if (firsts[i] - firsts[i - 1] <= longest) continue;
    longest = firsts[i] - firsts[i - 1];
    earliest = firsts[i];
  }
  return longest >= period / 2 ? std::optional(earliest) : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> first_turns(std::span<const ClockBeginning> sources, std::uint64_t period) {
  if (sources.empty()) return std::vector<std::uint64_t>();
  const auto earliest = earliest_of(sources, period);
  if (!earliest) return std::nullopt;
  std::vector<std::uint64_t> turns;
  bool below_0 = false;
  for (const auto& [first, late] : sources) {
    turns.push_back(first < *earliest ? 1 : 0);
    below_0 = below_0 || (turns.back() == 0 && late > first);
  }
  for (auto& turn : turns) turn += below_0 ? 1 : 0;
  return turns;
}

}  // namespace eventloom
