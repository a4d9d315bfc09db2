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

/// Packs rising slices into runs; few runs when builders get slices in turn.
class SliceRuns {
 public:
  /// Throws std::logic_error when `slice` is not above the one before it.
  void add(SliceId slice);
  [[nodiscard]] const std::vector<SliceRun>& runs() const { return runs_; }

 private:
  std::vector<SliceRun> runs_;
};

/// Slices in the runs of a SliceSet.
constexpr std::uint64_t kMaxSlices = std::uint64_t{1} << 36;

/// The finished slices of a run: all before frontier(), and some beyond it. Memory grows only with the part beyond the
/// frontier: 24 bytes per 64 slices of which some are in the set and some are not, none for uniform stretches.
class SliceSet {
 public:
  /// No slices; the frontier is slice 0.
  SliceSet() = default;

  /// All slices before `begin` count as finished; runs may come in any order, empty ones are ignored. Throws
  /// std::invalid_argument when a slice is in two runs (a slice must be built only once), when a run exceeds 64 bits or
  /// begins before `begin`, and when there are more than kMaxSlices, or so many stretches of them that they would take
  /// 0.8 GB. Time: that of setting a bit per slice, 64 at a time where the step is 1.
  SliceSet(SliceId begin, std::span<const SliceRun> runs);

  [[nodiscard]] bool contains(SliceId slice) const;
  /// The lowest slice that is not in the set.
  [[nodiscard]] SliceId frontier() const { return frontier_; }
  /// The first slice at or after `from` that is not in the set.
  [[nodiscard]] SliceId next_missing(SliceId from) const;
  /// Slices in the set after frontier().
  [[nodiscard]] std::uint64_t size_beyond() const { return size_beyond_; }
  /// One past the last slice in the set; frontier() when nothing lies beyond it.
  [[nodiscard]] SliceId end() const { return end_; }
  /// The part beyond the frontier as runs, for other ranks: SliceSet(frontier(), beyond()) equals this.
  [[nodiscard]] std::vector<SliceRun> beyond() const;

  friend bool operator==(const SliceSet&, const SliceSet&) = default;

 private:
  /// `n` words of 64 slices from number `first` on, all with the value `bits`; n > 1 only where all bits are set.
  struct Bitmap {
    std::uint64_t first = 0;
    std::uint64_t n = 1;
    std::uint64_t bits = 0;
    friend bool operator==(const Bitmap&, const Bitmap&) = default;
  };

  void add_stretch(std::uint64_t first, std::span<const std::uint64_t> words);
  void find_frontier();
  [[nodiscard]] std::vector<Bitmap>::const_iterator words_from(std::uint64_t word) const;

  SliceId frontier_{};
  SliceId end_{};
  std::uint64_t size_beyond_ = 0;
  /// Rising, without words of no bits. Bit i of word w is slice 64 w + i; the bits before the frontier are zero.
  std::vector<Bitmap> words_;
};

/// The slices that are in both. Time: that of a look at each slice beyond a frontier.
SliceSet in_both(const SliceSet& a, const SliceSet& b);

}  // namespace eventloom
