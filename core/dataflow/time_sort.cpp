#include "core/dataflow/time_sort.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "formats/geometry.hpp"

namespace eventloom {

namespace {

/// Average hits of a tile: both copies of 4096 keys and the counters stay in the caches next to the core.
constexpr std::uint64_t kTileHits = 4096;
/// With fewer hits per source in a tile, starting the loops would cost more than the cache saves.
constexpr std::uint64_t kPieceHits = 64;
constexpr unsigned kMaxDigitBits = 11;
/// The low 32 bits of the ticks of a tile must suffice.
constexpr unsigned kMostTileBits = 30;

void positions_from_counts(std::uint32_t* counters, std::size_t bins) {
  std::uint32_t position = 0;
  for (std::size_t b = 0; b < bins; ++b) position += std::exchange(counters[b], position);
}

}  // namespace

std::span<const HitKey> TimeSort::sort(const DecodedHits& hits, Epoch n_epochs, std::uint32_t epoch_ticks) {
  HitKey* out = keys_.require(hits.size);
  next_.clear();
  for (const auto& s : hits.sources) next_.push_back(s.begin);
  const std::uint64_t tile_ticks = ticks_of_tile(hits, n_epochs, epoch_ticks);
  std::uint32_t done = 0;
  for (std::uint64_t begin = 0; done < hits.size; begin += tile_ticks) {
    const std::uint32_t n = cut_tile(hits, begin + tile_ticks);
    if (n > 0) sort_tile(hits.tick.data(), {begin, n, tile_ticks}, out + done);
    done += n;
  }
  return {out, hits.size};
}

std::uint64_t TimeSort::ticks_of_tile(const DecodedHits& hits, Epoch n_epochs, std::uint32_t epoch_ticks) {
  const std::uint64_t n_ticks = tick_of_epoch(n_epochs, epoch_ticks).value;
  const std::uint64_t to_merge = merge_.best_hits(hits.sources.size(), hits.size, n_ticks);
  in_order_ = std::ranges::all_of(hits.sources, &DecodedSource::ordered);
  merges_ = in_order_ && to_merge != 0;
  if (merges_) return (n_ticks * std::min<std::uint64_t>(to_merge, hits.size) + hits.size - 1) / hits.size;
  const std::uint64_t wanted = std::max(kTileHits, kPieceHits * hits.sources.size());
  const std::uint64_t least = (n_ticks >> kMostTileBits) + 1;
  const std::uint64_t tiles =
      std::clamp<std::uint64_t>(hits.size / wanted, std::min(least, n_epochs.value), n_epochs.value);
  return tick_of_epoch((n_epochs + Epoch(tiles - 1)) / tiles, epoch_ticks).value;
}

/// Finds the pieces of all sources before `end_tick`; returns their number of hits.
std::uint32_t TimeSort::cut_tile(const DecodedHits& hits, std::uint64_t end_tick) {
  pieces_.clear();
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const std::uint32_t end = hits.first_at(hits.sources[i], end_tick, next_[i]);
    if (end == next_[i]) continue;
    pieces_.push_back({next_[i], end});
    n += end - next_[i];
    next_[i] = end;
  }
  return n;
}

void TimeSort::sort_tile(const std::uint32_t* ticks, const Tile& tile, HitKey* out) {
  if (merges_ && merge_.suits(pieces_.size(), tile.n_hits, tile.n_ticks)) {
    return merge_.sort(ticks, pieces_, tile.begin, out);
  }
  const auto begin = static_cast<std::uint32_t>(tile.begin);
  const HitKey first = make_key(tile.begin, 0);
  const auto after = [=](std::uint32_t i) { return static_cast<std::uint32_t>(ticks[i] - begin); };
  if (in_order_ && pieces_.size() == 1) {
    each_hit([&](std::uint32_t i) { *out++ = first + make_key(after(i), i); });
    return;
  }
  sort_digits(
      tile,
      [&](auto use) {
        each_hit([&](std::uint32_t i) { use(std::uint64_t{after(i)}, first + make_key(after(i), i)); });
      },
      out);
}

TimeSort::Digits TimeSort::digits_for(std::uint64_t n_ticks, std::uint32_t n_hits) {
  const auto bits = std::max(1U, static_cast<unsigned>(std::bit_width(n_ticks - 1)));
  // One digit if there are about as many hits as ticks; otherwise not many more counters than hits.
  if (n_ticks <= 2 * std::uint64_t{n_hits}) return {1, bits};
  const unsigned most = std::min(static_cast<unsigned>(std::bit_width(n_hits)), kMaxDigitBits);
  const unsigned count = (bits + most - 1) / most;
  return {count, (bits + count - 1) / count};
}

template <class EachKey>
void TimeSort::find_positions(const Digits& digits, EachKey each_key) {
  const auto [count, bits] = digits;
  const std::size_t bins = digits.bins();
  std::uint32_t* counters = counters_.require(count * bins);
  std::fill_n(counters, count * bins, 0U);
  const auto mask = bins - 1;
  if (count == 1) {
    each_key([=](std::uint64_t after, HitKey) { ++counters[after & mask]; });
  } else if (count == 2) {
    std::uint32_t* high = counters + bins;
    each_key([=, bits = bits](std::uint64_t after, HitKey) {
      ++counters[after & mask];
      ++high[after >> bits & mask];
    });
  } else {
    each_key([=, count = count, bits = bits](std::uint64_t after, HitKey) {
      for (unsigned digit = 0; digit < count; ++digit) ++counters[digit * bins + (after >> digit * bits & mask)];
    });
  }
  for (unsigned digit = 0; digit < count; ++digit) positions_from_counts(counters + digit * bins, bins);
}

template <class EachKey>
void TimeSort::sort_digits(const Tile& tile, EachKey each_key, HitKey* out) {
  const auto digits = digits_for(tile.n_ticks, tile.n_hits);
  find_positions(digits, each_key);
  std::uint32_t* position = counters_.data();
  const auto mask = digits.bins() - 1;
  HitKey* to = out;
  HitKey* from = spare_.require(tile.n_hits);
  if (digits.count % 2 == 0) std::swap(from, to);  // the last digit must move the keys to `out`
  each_key([=](std::uint64_t after, HitKey key) { to[position[after & mask]++] = key; });
  const HitKey first = make_key(tile.begin, 0);
  for (unsigned digit = 1; digit < digits.count; ++digit) {
    std::swap(from, to);
    position += digits.bins();
    const unsigned low = kHitNumberBits + digit * digits.bits;
    for (std::uint32_t k = 0; k < tile.n_hits; ++k) to[position[(from[k] - first) >> low & mask]++] = from[k];
  }
}

std::span<const HitKey> TimeSort::sort(std::span<const HitKey> keys, Tick n_ticks) {
  if (std::ranges::is_sorted(keys, {}, tick_of)) return keys;
  const Tick last = n_ticks - 1;
  const auto bits = static_cast<unsigned>(std::bit_width(last.value));
  const auto wanted = static_cast<unsigned>(std::bit_width(keys.size() / kTileHits));
  const unsigned tile_bits = bits - std::min({wanted, bits, kMaxDigitBits});
  const auto ends = scatter(keys, tile_bits, (last.value >> tile_bits) + 1);
  HitKey* out = keys_.require(keys.size());
  std::uint32_t begin = 0;
  for (std::size_t tile = 0; tile < ends.size(); ++tile) {
    const auto in_tile = std::span(scattered_.data() + begin, ends[tile] - begin);
    const auto first_tick = std::uint64_t{tile} << tile_bits;
    if (!in_tile.empty()) {
      sort_digits(
          {first_tick, static_cast<std::uint32_t>(in_tile.size()), std::uint64_t{1} << tile_bits},
          [&](auto use) {
            for (const HitKey key : in_tile) use(tick_of(key).value - first_tick, key);
          },
          out + begin);
    }
    begin = ends[tile];
  }
  return {out, keys.size()};
}

/// Moves the keys to their tiles of 2^`tile_bits` ticks, keeping their order; returns where each tile ends.
std::span<const std::uint32_t> TimeSort::scatter(std::span<const HitKey> keys, unsigned tile_bits,
                                                 std::uint64_t n_tiles) {
  const auto tile_of = [tile_bits](HitKey key) { return tick_of(key).value >> tile_bits; };
  // Neighbours are mostly hits of one source and in one tile: their position is kept in a register, since updating a
  // counter in memory would make each wait for the previous one.
  tile_ends_.assign(n_tiles, 0);
  for (std::size_t k = 0; k < keys.size();) {
    const auto tile = tile_of(keys[k]);
    const auto begin = k;
    while (k < keys.size() && tile_of(keys[k]) == tile) ++k;
    tile_ends_[tile] += static_cast<std::uint32_t>(k - begin);
  }
  positions_from_counts(tile_ends_.data(), n_tiles);
  HitKey* out = scattered_.require(keys.size());
  for (std::size_t k = 0; k < keys.size();) {
    const auto tile = tile_of(keys[k]);
    HitKey* to = out + tile_ends_[tile];
    while (k < keys.size() && tile_of(keys[k]) == tile) *to++ = keys[k++];
    tile_ends_[tile] = static_cast<std::uint32_t>(to - out);
  }
  return tile_ends_;
}

template <class Use>
void TimeSort::each_hit(Use use) const {
  for (const auto& piece : pieces_) {
    for (std::uint32_t i = piece.begin; i < piece.end; ++i) use(i);
  }
}

}  // namespace eventloom
