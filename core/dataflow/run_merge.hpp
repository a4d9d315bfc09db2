#pragma once

#include <cstddef>
#include <cstdint>

namespace eventloom {

/// Runs consist of whole blocks of this many keys.
inline constexpr std::size_t kRunBlock = 8;
/// Fills the last block of a run. Keys lie between 0 and this number, exclusively.
inline constexpr std::uint32_t kNoRunKey = 0xffffffff;

/// Keys in ascending order, the last block filled with kNoRunKey. At least one key precedes them in memory, and is 0;
/// at least one block follows them, filled with kNoRunKey. The caller owns the memory.
struct KeyRun {
  const std::uint32_t* keys;
  std::size_t n;  ///< a multiple of kRunBlock, at least one block
};

/// Merges two runs of different keys to `out`, which has room for both and does not overlap them. Writes neither what
/// must precede a run nor what must follow it.
using RunMerge = void (*)(KeyRun a, KeyRun b, std::uint32_t* out);

/// Returns a merge for the widest vectors of the processor, up to 8 lanes, by Google's Highway; null without that
/// library. The choice costs as much as merging some hits: make it once for many calls.
RunMerge run_merge();

}  // namespace eventloom
