#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dataflow/run_merge.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/runtime/scratch.hpp"

namespace eventloom {

/// Hits [begin, end) of one source, by number.
struct HitPiece {
  std::uint32_t begin;
  std::uint32_t end;

  [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

/// Sorts the hits of a short time by merging those of its sources, each of which is sorted already.
///
/// Keys of 32 bits suffice for a short time: the ticks after its beginning in the high bits, the position among its
/// hits in the low ones. Runs of such keys are merged in pairs until one is left.
class TileMerge {
 public:
  /// Number of hits of a time range that suits sort(), given that `n_pieces` pieces have `n_hits` within `n_ticks`. 0
  /// if none does: too few hits for so long a time, too many pieces, or no vectors.
  [[nodiscard]] std::uint64_t best_hits(std::size_t n_pieces, std::uint64_t n_hits, std::uint64_t n_ticks) const;
  /// Whether sort() can sort that many pieces and hits within `n_ticks`, and faster than a radix sort.
  [[nodiscard]] bool suits(std::size_t n_pieces, std::uint32_t n_hits, std::uint64_t n_ticks) const;

  /// Writes the keys of all pieces to `out` in ascending order. `pieces`: not empty, each with hits, in ascending order
  /// of numbers. `ticks`: low 32 bits of the tick of each hit, by number, ascending within a piece when counted from
  /// `begin`, the first tick of the time.
  void sort(const std::uint32_t* ticks, std::span<const HitPiece> pieces, std::uint64_t begin, HitKey* out);

 private:
  /// A run in the memory of a stage.
  struct Place {
    std::size_t at;
    std::size_t n;
  };

  std::size_t room_for(std::span<const HitPiece> pieces) const;
  void make_runs(const std::uint32_t* ticks, std::span<const HitPiece> pieces, std::uint32_t begin);
  void merge_all();

  std::optional<RunMerge> merge_ = run_merge();
  unsigned number_bits_ = 0;        ///< bits of a position
  Scratch<std::uint32_t> numbers_;  ///< number of each hit, by position
  Scratch<std::uint32_t> from_;
  Scratch<std::uint32_t> to_;
  std::vector<Place> runs_;  ///< in from_
};

}  // namespace eventloom
