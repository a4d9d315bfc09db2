#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decode.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/runtime/scratch.hpp"

namespace eventloom {

/// Sorts hits by time with a radix sort, lowest digit first: it is stable, and its cost does not depend on the
/// distribution of the hits.
///
/// Epochs ascend in every source, so a group of epochs (a tile) can be sorted independently: tiles are small enough to
/// stay in the caches next to the core, and their ticks have few digits.
class TimeSort {
 public:
  /// The keys stay valid until the next call. The hits lie in `n_epochs` of `epoch_ticks`, below 2^32 ticks.
  std::span<const HitKey> sort(const DecodedHits& hits, Epoch n_epochs, std::uint32_t epoch_ticks);

  /// The same for hits whose epochs do not ascend: keys in the order of their numbers, below `n_ticks`. They must stay
  /// unchanged while the result is in use; the next call replaces the result.
  std::span<const HitKey> sort(std::span<const HitKey> keys, Tick n_ticks);

 private:
  struct Piece {
    std::uint32_t begin;
    std::uint32_t end;
  };
  /// Start of a source's hits of the next tile.
  struct Cursor {
    std::uint32_t hit;
    std::size_t epoch;
  };

  /// A group of epochs.
  struct Tile {
    std::uint32_t begin;  ///< first tick
    std::uint32_t n_hits;
    std::uint64_t n_ticks;
  };

  std::uint32_t cut_tile(const DecodedHits& hits, std::uint64_t end_tick);
  void sort_tile(const std::uint32_t* ticks, const Tile& tile, HitKey* out);
  /// `each_key`: calls its argument with every key of the tile, in ascending order of numbers.
  template <class EachKey>
  void sort_digits(const Tile& tile, EachKey each_key, HitKey* out);
  std::span<const std::uint32_t> scatter(std::span<const HitKey> keys, unsigned tile_bits, std::uint64_t n_tiles);
  /// Calls `use` with the number of every hit of the tile, in ascending order.
  template <class Use>
  void each_hit(Use use) const;

  Scratch<HitKey> keys_;
  Scratch<HitKey> spare_;
  Scratch<HitKey> scattered_;  ///< grouped by tile
  std::vector<std::uint32_t> tile_ends_;
  Scratch<std::uint32_t> counters_;
  std::vector<Piece> pieces_;
  std::vector<Cursor> cursors_;
  bool tile_ordered_ = false;
};

}  // namespace eventloom
