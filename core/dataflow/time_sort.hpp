#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/tile_merge.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/runtime/scratch.hpp"

namespace eventloom {

/// Sorts hits by time, one short time (a tile) after another: tiles are small enough to stay in the caches next to the
/// core, and their ticks have few digits.
///
/// Most sources are in order already, and are merged. Others are sorted with a radix sort, lowest digit first: it is
/// stable, and its cost does not depend on the distribution of the hits. As epochs ascend in every source, its tiles
/// are groups of epochs.
class TimeSort {
 public:
  /// The keys stay valid until the next call. The hits lie in `n_epochs` of `epoch_ticks`, below
  /// kMostSliceTicks.
  std::span<const HitKey> sort(const DecodedHits& hits, Epoch n_epochs, std::uint32_t epoch_ticks);

  /// The same for hits whose epochs do not ascend: keys in the order of their numbers, below `n_ticks`. They must stay
  /// unchanged while the result is in use; the next call replaces the result.
  std::span<const HitKey> sort(std::span<const HitKey> keys, Tick n_ticks);

 private:
  struct Tile {
    std::uint64_t begin;  ///< first tick
    std::uint32_t n_hits;
    std::uint64_t n_ticks;
  };

  /// Division of a tile's ticks into digits, the lowest first.
  struct Digits {
    unsigned count;
    unsigned bits;
    [[nodiscard]] std::size_t bins() const { return std::size_t{1} << bits; }
  };

  std::uint64_t ticks_of_tile(const DecodedHits& hits, Epoch n_epochs, std::uint32_t epoch_ticks);
  std::uint32_t cut_tile(const DecodedHits& hits, std::uint64_t end_tick);
  void sort_tile(const std::uint32_t* ticks, const Tile& tile, HitKey* out);
  /// `each_key`: calls its argument for every hit of the tile, in ascending order of numbers, with its ticks after the
  /// beginning of the tile and its key.
  template <class EachKey>
  void sort_digits(const Tile& tile, EachKey each_key, HitKey* out);
  static Digits digits_for(std::uint64_t n_ticks, std::uint32_t n_hits);
  /// Fills counters_ with the position of the first key of each bin, one digit after another. The order of the keys
  /// does not matter, so that a single pass serves all digits.
  template <class EachKey>
  void find_positions(const Digits& digits, EachKey each_key);
  std::span<const std::uint32_t> scatter(std::span<const HitKey> keys, unsigned tile_bits, std::uint64_t n_tiles);
  /// Calls `use` with the number of every hit of the tile, in ascending order.
  template <class Use>
  void each_hit(Use use) const;

  Scratch<HitKey> keys_;
  Scratch<HitKey> spare_;
  Scratch<HitKey> scattered_;  ///< grouped by tile
  std::vector<std::uint32_t> tile_ends_;
  Scratch<std::uint32_t> counters_;
  std::vector<HitPiece> pieces_;     ///< of the tile
  std::vector<std::uint32_t> next_;  ///< first hit of the next tile, by source
  bool in_order_ = false;            ///< every source
  bool merges_ = false;              ///< tiles need not end with epochs
  TileMerge merge_;
};

}  // namespace eventloom
