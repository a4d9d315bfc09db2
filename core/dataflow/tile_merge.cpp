#include "core/dataflow/tile_merge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace eventloom {

namespace {

/// Each doubling of the number of runs costs another pass over the keys.
constexpr std::size_t kMostPieces = 128;
/// The last block of each run is filled up, which costs as much as hits.
constexpr std::uint32_t kHitsPerPiece = kRunBlock;
/// All that sort() uses stays in the caches next to the core.
constexpr std::uint64_t kBestHits = 2048;

constexpr std::size_t whole_blocks(std::size_t n) { return (n + kRunBlock - 1) / kRunBlock * kRunBlock; }

/// Writes what must precede and follow a run of n keys at `memory[at]`.
void enclose(std::uint32_t* memory, std::size_t at, std::size_t n) {
  memory[at - 1] = 0;
  std::fill_n(memory + at + n, kRunBlock, kNoRunKey);
}

/// The place of a run that follows one ending at `end`.
constexpr std::size_t place_after(std::size_t end) { return end + 2 * kRunBlock; }

/// Positions count from 1, as no key is 0.
unsigned bits_of_numbers(std::uint32_t n_hits) { return static_cast<unsigned>(std::bit_width(n_hits)); }

}  // namespace

std::uint64_t TileMerge::best_hits(std::size_t n_pieces, std::uint64_t n_hits, std::uint64_t n_ticks) const {
  if (!merge_ || n_pieces < 2 || n_pieces > kMostPieces || n_hits < n_pieces * kHitsPerPiece) return 0;
  // n hits need log2(n) bits for positions and log2(n distance) for ticks, each rounded up: 31 in all.
  const double distance = static_cast<double>(n_ticks) / static_cast<double>(n_hits);
  const auto most = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(1U << 29) / distance));
  const std::uint64_t least = std::uint64_t{2} * kHitsPerPiece * n_pieces;  // many tiles have fewer than the average
  return most < least ? 0 : std::clamp(kBestHits, least, most);
}

bool TileMerge::suits(std::size_t n_pieces, std::uint32_t n_hits, std::uint64_t n_ticks) const {
  if (!merge_ || n_pieces > kMostPieces || n_hits < n_pieces * kHitsPerPiece) return false;
  return static_cast<unsigned>(std::bit_width(n_ticks - 1)) + bits_of_numbers(n_hits) < 32;
}

void TileMerge::sort(const std::uint32_t* ticks, std::span<const HitPiece> pieces, std::uint64_t begin, HitKey* out) {
  std::uint32_t n_hits = 0;
  for (const auto& piece : pieces) n_hits += piece.size();
  number_bits_ = bits_of_numbers(n_hits);
  numbers_.require(n_hits + 1);
  const auto room = room_for(pieces);
  from_.require(room);
  to_.require(room);
  make_runs(ticks, pieces, static_cast<std::uint32_t>(begin));
  merge_all();
  merge_->write_hits(from_.data() + runs_.front().at, n_hits, number_bits_, numbers_.data(), make_key(begin, 0), out);
}

std::size_t TileMerge::room_for(std::span<const HitPiece> pieces) const {
  std::size_t room = kRunBlock;
  for (const auto& piece : pieces) room = place_after(room + whole_blocks(piece.size()));
  return room;
}

void TileMerge::make_runs(const std::uint32_t* ticks, std::span<const HitPiece> pieces, std::uint32_t begin) {
  runs_.clear();
  std::size_t at = kRunBlock;
  std::uint32_t position = 1;
  for (const auto& piece : pieces) {
    const std::uint32_t n = piece.size();
    std::uint32_t* run = from_.data() + at;
    merge_->make_keys(ticks + piece.begin, n, begin, number_bits_, position, run);
    std::iota(numbers_.data() + position, numbers_.data() + position + n, piece.begin);
    position += n;
    const std::size_t whole = whole_blocks(n);
    std::fill(run + n, run + whole, kNoRunKey);
    enclose(from_.data(), at, whole);
    runs_.push_back({at, whole});
    at = place_after(at + whole);
  }
}

/// Each pass halves the number of runs. Keys of equal ticks are in the order of their positions, hence of their
/// numbers.
void TileMerge::merge_all() {
  while (runs_.size() > 1) {
    std::size_t at = kRunBlock;
    std::size_t n_merged = 0;
    for (std::size_t i = 0; i < runs_.size(); i += 2) {
      const Place a = runs_[i];
      std::size_t n = a.n;
      if (i + 1 < runs_.size()) {
        const Place b = runs_[i + 1];
        merge_->merge({from_.data() + a.at, a.n}, {from_.data() + b.at, b.n}, to_.data() + at);
        n += b.n;
      } else {
        std::copy_n(from_.data() + a.at, a.n, to_.data() + at);
      }
      enclose(to_.data(), at, n);
      runs_[n_merged++] = {at, n};
      at = place_after(at + n);
    }
    runs_.resize(n_merged);
    std::swap(from_, to_);
  }
}

}  // namespace eventloom
