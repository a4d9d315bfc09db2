#include "io/udp/resend_requests.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace eventloom {

namespace {

std::pair<std::uint64_t, std::uint32_t> place_of(const MissingPiece& piece) { return {piece.sequence, piece.begin}; }

}  // namespace

std::vector<MissingPiece> ResendRequests::due(std::span<const MissingPiece> missing, std::int64_t now_ns,
                                              std::size_t most, std::int64_t again_ns) {
  std::vector<MissingPiece> pieces;
  std::vector<Asked> now;
  auto before = asked_.begin();
  for (const auto& piece : missing) {
    while (before != asked_.end() && place_of(before->piece) < place_of(piece)) ++before;
    const bool known = before != asked_.end() && before->piece == piece;
    auto& one = now.emplace_back(known ? *before : Asked{.piece = piece, .seen_ns = now_ns});
    const bool waits = one.asked ? now_ns - one.asked_ns < again_ns : now_ns - one.seen_ns < patience_ns_;
    if (waits || pieces.size() == most) continue;
    one.asked = true;
    one.asked_ns = now_ns;
    pieces.push_back(piece);
  }
  asked_ = std::move(now);
  if (!pieces.empty()) last_ns_ = now_ns;
  return pieces;
}

bool ResendRequests::has_asked(std::uint64_t sequence, std::uint32_t offset) const {
  auto after = std::ranges::upper_bound(asked_, std::pair(sequence, offset), {},
                                        [](const Asked& one) { return place_of(one.piece); });
  if (after == asked_.begin()) return false;
  const auto& [piece, seen, when, asked] = *std::prev(after);
  return asked && piece.sequence == sequence && (piece.end == 0 || offset < piece.end);
}

}  // namespace eventloom
