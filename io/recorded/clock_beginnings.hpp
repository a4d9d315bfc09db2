#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// Where the counter of a source begins.
struct ClockBeginning {
  std::uint64_t first = 0;  ///< its first number, below the period
  std::uint64_t late = 0;   ///< by how much the numbers that follow precede it at most, because of disorder
};

/// The turn in which each source of one clock begins, so that their first numbers lie within half a turn, the earliest
/// in turn 0 and no number before that. std::nullopt if the first numbers are spread over more than half a turn.
std::optional<std::vector<std::uint64_t>> first_turns(std::span<const ClockBeginning> sources, std::uint64_t period);

}  // namespace eventloom
