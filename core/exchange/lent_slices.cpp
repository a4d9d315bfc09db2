#include "core/exchange/lent_slices.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/exchange/outbox.hpp"

namespace eventloom {

bool LentSlices::can_lend(std::size_t builder, const Pieces& pieces) const {
  if (borrowers_.empty() || borrowers_[builder] == 0 || bytes_of(pieces) < least_bytes_) return false;
  // Buffers in a damaged file may lie anywhere.
  return std::ranges::all_of(pieces, [](const auto piece) {
    return reinterpret_cast<std::uintptr_t>(piece.data()) % sizeof(std::uint64_t) == 0;
  });
}

const LentSlices::Pieces& LentSlices::pieces(SliceId slice, std::uint32_t source) const {
  if (const auto lent = slices_.find(slice); lent != slices_.end()) {
    if (const auto part = lent->second.find(source); part != lent->second.end()) return part->second.pieces;
  }
  throw std::runtime_error("exchange: slice " + std::to_string(slice.value) + " of origin " + std::to_string(source) +
                           ": no source of this rank has lent it");
}

void LentSlices::recall(std::uint32_t source) {
  for (auto& [slice, loans] : slices_) {
    const auto found = loans.find(source);
    if (found == loans.end() || !found->second.copy.empty()) continue;
    auto& [pieces, copy] = found->second;
    const auto bytes = bytes_of(pieces);
    copy.resize(padded(bytes) / sizeof copy[0]);
    const auto memory = std::as_writable_bytes(std::span(copy)).first(bytes);
    auto rest = memory;
    for (const auto piece : pieces) {
      std::ranges::copy(piece, rest.begin());
      rest = rest.subspan(piece.size());
    }
    pieces.assign(1, memory);
  }
}

SliceId LentSlices::first(std::uint32_t source, SliceId otherwise) const {
  for (const auto& [slice, loans] : slices_) {
    const auto found = loans.find(source);
    if (found != loans.end() && found->second.copy.empty()) return slice;
  }
  return otherwise;
}

}  // namespace eventloom
