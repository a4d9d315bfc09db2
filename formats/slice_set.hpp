#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// The `count` slices `first`, `first + step`, ...
struct SliceRun {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 0;
  friend bool operator==(const SliceRun&, const SliceRun&) = default;
};

/// Packs ascending slices into runs. There are few runs if builders get slices in turn.
class SliceRuns {
 public:
  /// Throws std::logic_error when `slice` does not exceed the previous one.
  void add(SliceId slice);
  [[nodiscard]] const std::vector<SliceRun>& runs() const { return runs_; }

 private:
  std::vector<SliceRun> runs_;
};

/// Maximum number of slices in the runs of a SliceSet.
constexpr std::uint64_t kMaxSlices = std::uint64_t{1} << 36;

/// The finished slices of a run: all before frontier(), and some beyond it. Memory grows only with the part beyond the
/// frontier: 24 bytes per 64 slices of which only some are in the set; uniform stretches take none.
class SliceSet {
 public:
  /// No slices; the frontier is slice 0.
  SliceSet() = default;

  /// All slices before `begin` count as finished. Runs may come in any order; empty ones are ignored. Throws
  /// std::invalid_argument when a slice is in two runs (a slice must be built only once), a run exceeds 64 bits or
  /// begins before `begin`, there are more than kMaxSlices slices, or their stretches would take more than 0.8 GB.
  /// Takes the time of setting one bit per slice, 64 at a time if the step is 1.
  SliceSet(SliceId begin, std::span<const SliceRun> runs);

  [[nodiscard]] bool contains(SliceId slice) const;
  /// The lowest slice that is not in the set.
  [[nodiscard]] SliceId frontier() const { return frontier_; }
  /// The first slice at or after `from` that is not in the set.
  [[nodiscard]] SliceId next_missing(SliceId from) const;
  /// Number of slices in the set after frontier().
  [[nodiscard]] std::uint64_t size_beyond() const { return size_beyond_; }
  /// One past the last slice in the set; frontier() if there is none beyond it.
  [[nodiscard]] SliceId end() const { return end_; }
  /// The part beyond the frontier as runs, to send to other ranks: SliceSet(frontier(), beyond()) equals this.
  [[nodiscard]] std::vector<SliceRun> beyond() const;

  friend bool operator==(const SliceSet&, const SliceSet&) = default;

 private:
  /// `n` words of 64 slices from word number `first`, all with the value `bits`; n > 1 only if all bits are set.
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
  /// Ascending, without zero words. Bit i of word w is slice 64 w + i; bits before the frontier are zero.
  std::vector<Bitmap> words_;
};

/// The slices that are in both sets. Takes time proportional to the number of slices beyond a frontier.
SliceSet in_both(const SliceSet& a, const SliceSet& b);

}  // namespace eventloom
