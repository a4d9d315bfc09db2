#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/definitions/hit_key.hpp"

namespace eventloom {

/// Runs consist of whole blocks of this many keys.
inline constexpr std::size_t kRunBlock = 16;
/// Fills the last block of a run. Keys lie between 0 and this number, exclusively.
inline constexpr std::uint32_t kNoRunKey = 0xffffffff;

/// Keys in ascending order, the last block filled with kNoRunKey. At least one key precedes them in memory, and is 0;
/// at least one block follows them, filled with kNoRunKey. The caller owns the memory.
struct KeyRun {
  const std::uint32_t* keys;
  std::size_t n;  ///< a multiple of kRunBlock, at least one block
};

/// The steps of a merge, by vectors of up to kRunBlock lanes. The caller owns all memory; outputs overlap nothing else.
struct RunMerge {
  /// Writes keys to `out`: `n` ticks, counted from `begin` modulo 2^32, above `bits` bits that hold positions, which
  /// ascend from `position`.
  void (*make_keys)(const std::uint32_t* ticks, std::size_t n, std::uint32_t begin, unsigned bits,
                    std::uint32_t position, std::uint32_t* out);
  /// Merges two runs of different keys to `out`, which has room for both. The caller encloses the new run.
  void (*merge)(KeyRun a, KeyRun b, std::uint32_t* out);
  /// Writes the hits of `n` keys to `out`. The low `bits` bits of a key are an index to `numbers`, the others a tick
  /// counted from that of `first`.
  void (*write_hits)(const std::uint32_t* keys, std::size_t n, unsigned bits, const std::uint32_t* numbers,
                     HitKey first, HitKey* out);
};

/// Returns the steps for the widest vectors of the processor, by Google's Highway; none without that library. The
/// choice costs as much as merging some hits: make it once for many calls.
std::optional<RunMerge> run_merge();

}  // namespace eventloom
