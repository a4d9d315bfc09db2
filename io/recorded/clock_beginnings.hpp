#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace eventloom {

/// The first number of a source's counter.
struct ClockBeginning {
  std::uint64_t first = 0;  ///< its first number, below the period
  std::uint64_t late = 0;   ///< the most by which later numbers precede it, because of disorder
};

/// The turn in which each source of one clock begins: their first numbers lie within half a turn, the earliest one in
/// turn 0 and no number before that. std::nullopt if the first numbers are spread over more than half a turn.
std::optional<std::vector<std::uint64_t>> first_turns(std::span<const ClockBeginning> sources, std::uint64_t period);

}  // namespace eventloom
