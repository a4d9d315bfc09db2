#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Slices `first`, `first + step`, ..., `count` of them.
struct SliceRun {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;
  friend bool operator==(const SliceRun&, const SliceRun&) = default;
};

/// Packs rising slices into runs as they come; few runs for what builders get in turn.
class SliceRuns {
 public:
  /// Throws std::logic_error when `slice` is not above the one before it.
  void add(SliceId slice);
  [[nodiscard]] const std::vector<SliceRun>& runs() const { return runs_; }

 private:
  std::vector<SliceRun> runs_;
};

/// From the begin of a SliceSet to the end of its runs.
constexpr std::uint64_t kMaxSliceSpan = std::uint64_t{1} << 36;
/// From the first incomplete stretch of a SliceSet (at most 2^22 slices before its frontier) to its end: the
/// bitmap of these takes 512 MiB.
constexpr std::uint64_t kMaxSliceSpanBeyond = std::uint64_t{1} << 32;

/// Which slices of a run are finished: all before frontier(), and some beyond it. Takes memory for
/// what lies beyond the frontier only, one bit a slice.
class SliceSet {
 public:
  /// No slices; the frontier is slice 0.
  SliceSet() = default;

  /// All slices before `begin` count as finished; runs may come in any order, empty ones count for nothing.
  /// Throws std::invalid_argument when a slice is in two runs (a slice may be built once only), when a run goes
  /// past 64 bits or begins before `begin`, and when the span exceeds kMaxSliceSpan or kMaxSliceSpanBeyond.
  /// Time: that of setting a bit for each slice, 64 at a time where the step is 1.
  SliceSet(SliceId begin, std::span<const SliceRun> runs);

  [[nodiscard]] bool contains(SliceId slice) const;  ///< O(1)
  /// The lowest slice that is not in the set.
  [[nodiscard]] SliceId frontier() const { return frontier_; }
  /// The first slice at or after `from` that is not in the set.
  [[nodiscard]] SliceId next_missing(SliceId from) const;
  /// Slices in the set after frontier().
  [[nodiscard]] std::uint64_t size_beyond() const { return size_beyond_; }
  /// One past the last slice in the set; frontier() when nothing lies beyond it.
  [[nodiscard]] SliceId end() const { return end_; }
  /// The part beyond the frontier as runs, for telling other ranks: SliceSet(frontier(), beyond()) equals this.
  [[nodiscard]] std::vector<SliceRun> beyond() const;

  friend bool operator==(const SliceSet&, const SliceSet&) = default;

 private:
  void trim();

  SliceId frontier_{};
  SliceId end_{};
  std::uint64_t size_beyond_ = 0;
  /// Bit i of word w is slice `base_ + 64 w + i`; the frontier is in word 0. Empty when nothing lies beyond.
  std::uint64_t base_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace eventloom
