#include "io/udp/bulk_pieces.hpp"

#include <algorithm>

namespace eventloom {

void BulkPieces::wait_for(std::int64_t round_trip_ns) { again_ns_ = std::max(again_ns_, round_trip_ns); }

std::uint32_t BulkPieces::block_bytes(std::uint64_t block) const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(file_.size() - block * kBulkBlockBytes, kBulkBlockBytes));
}

void BulkPieces::follow(const Datagram& datagram, bool whole, std::int64_t now_ns) {
  const std::uint64_t room = status_of(datagram).room;
  known_ = known_of(datagram);
  next_ = whole ? known_ : std::max(next_, known_);
  window_ = std::clamp(room == 0 ? kWindow : room, std::uint64_t{datagram_bytes_}, kMostWindow);
  if (!again_.empty()) return;
  const auto due = resends_.due(missing_pieces_of(datagram), now_ns, kMostMissingPieces, again_ns_);
  for (auto piece : due) {
    if (piece.sequence * kBulkBlockBytes >= file_.size() || piece.sequence > file_.size() / kBulkBlockBytes) continue;
    const auto bytes = block_bytes(piece.sequence);
    piece.end = piece.end == 0 ? bytes : std::min(piece.end, bytes);
    if (piece.begin < piece.end) again_.push_back(piece);
  }
}

void BulkPieces::send(std::uint64_t most_bytes, const Room& room) {
  const std::uint64_t end = sent_bytes_ + most_bytes;
  send_again(end, room);
  if (again_.empty()) send_new(end, room);
}

/// Sends until `end` bytes have been sent in all.
void BulkPieces::send_again(std::uint64_t end, const Room& room) {
  while (!again_.empty() && sent_bytes_ < end) {
    auto& piece = again_.front();
    piece.begin += put(piece.sequence, piece.begin, piece.end, room);
    if (piece.begin == piece.end) again_.pop_front();
  }
}

void BulkPieces::send_new(std::uint64_t end, const Room& room) {
  const std::uint64_t until = std::min<std::uint64_t>(file_.size(), known_ + window_);
  while (next_ < until && sent_bytes_ < end) {
    const std::uint64_t block = next_ / kBulkBlockBytes;
    const auto begin = static_cast<std::uint32_t>(next_ % kBulkBlockBytes);
    next_ += put(block, begin, block_bytes(block), room);
    none_since_offer_ = false;
  }
}

/// Sends one piece from `begin` on, and returns its bytes.
std::uint32_t BulkPieces::put(std::uint64_t block, std::uint32_t begin, std::uint32_t end, const Room& room) {
  const auto most = static_cast<std::uint32_t>(datagram_bytes_ - sizeof(DatagramHeader));
  const std::uint32_t bytes = std::min(most, end - begin);
  DatagramHeader header{.kind = DatagramKind::piece,
                        .session = session_,
                        .offset = begin,
                        .sequence = block,
                        .buffer_bytes = block_bytes(block)};
  compose_datagram(header, file_.subspan(block * kBulkBlockBytes + begin, bytes), room(sizeof header + bytes));
  sent_bytes_ += bytes;
  return bytes;
}

}  // namespace eventloom
