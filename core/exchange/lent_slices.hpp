#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// Records the data that the sources of a rank lend to builders on the same rank. The ring carries only a
/// notice of each loan, and the damage (ChunkHeader::kLent); the builder reads the data in the source's memory. For one
/// thread.
///
/// A source keeps the memory until the builder gives the slice back, or until it recalls its loans, which are then
/// copied. The builder's slice limit bounds the number of slices on loan, as it bounds those in flight.
class LentSlices {
 public:
  using Pieces = std::vector<std::span<const std::byte>>;

  /// `borrowers`: indexed by builder; 1 if the rank's sources lend it their data. Empty: none of them borrows.
  /// `least_bytes`: size of the smallest loan; smaller data are cheaper to copy.
  LentSlices(std::vector<std::uint8_t> borrowers, std::uint64_t least_bytes)
      : borrowers_(std::move(borrowers)), least_bytes_(least_bytes) {}

  /// Whether a source may lend these data to the builder instead of sending them.
  [[nodiscard]] bool can_lend(std::size_t builder, const Pieces& pieces) const;
  /// Lends all that `source` has for a slice: whole stored epoch buffers, see SourceSlice.
  void lend(SliceId slice, std::uint32_t source, const Pieces& pieces) { slices_[slice][source] = {pieces, {}}; }
  /// Returns what `source` has lent of a slice; valid until the slice is given back. Throws std::runtime_error if it
  /// has lent nothing.
  [[nodiscard]] const Pieces& pieces(SliceId slice, std::uint32_t source) const;
  /// Ends all loans of a slice, if there are any: its builder has used the data.
  void give_back(SliceId slice) { slices_.erase(slice); }
  /// Copies everything that `source` has on loan, so that the source can release its memory.
  void recall(std::uint32_t source);
  /// The lowest slice for which `source` must keep its memory; `otherwise` if there is none.
  [[nodiscard]] SliceId first(std::uint32_t source, SliceId otherwise) const;

 private:
  struct Loan {
    Pieces pieces;
    std::vector<std::uint64_t> copy;  ///< holds the data after recall(), else empty
  };

  std::vector<std::uint8_t> borrowers_;
  std::uint64_t least_bytes_;
  std::map<SliceId, std::map<std::uint32_t, Loan>> slices_;  ///< indexed by slice, then by source
};

}  // namespace eventloom
