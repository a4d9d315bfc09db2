#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/definitions/hit_key.hpp"

/// Searches among all hits for those at some distance from another. Without a branch for each hit, as branches on real
/// data are unpredictable: by the widest vectors of the processor where Google's Highway is installed.
namespace eventloom {

/// The functions below write whole vectors, so their output needs room for this many more positions.
inline constexpr std::size_t kPositionsBehind = 16;

/// Writes to `starts` the position of each key that follows the one before it by more than `gap`, ascending; position 0
/// counts as well. Returns their number. The caller's `starts` has room for one position per key and kPositionsBehind
/// more.
std::uint32_t find_run_starts(std::span<const HitKey> keys, Tick gap, std::uint32_t* starts);

/// Likewise for the position of each key whose `apart`-th successor follows it by at most `window`.
std::uint32_t find_close(std::span<const HitKey> keys, std::size_t apart, Tick window, std::uint32_t* positions);

/// Writes the number of each run with at least `min_hits` keys, ascending, and returns how many there are. `starts` has
/// the beginning of each run and the end of the last one; `numbers` has room for one number per run and
/// kPositionsBehind more.
std::uint32_t find_long_runs(std::span<const std::uint32_t> starts, std::uint64_t min_hits, std::uint32_t* numbers);

}  // namespace eventloom
