#include "io/udp/bulk_transfer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace eventloom {

BulkTransfer::BulkTransfer(std::span<const std::byte> file, const Settings& settings, std::int64_t now_ns)
    : file_(file), settings_(settings), heard_ns_(now_ns), progress_ns_(now_ns) {}

std::uint32_t BulkTransfer::block_bytes(std::uint64_t block) const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(file_.size() - block * kBulkBlockBytes, kBulkBlockBytes));
}

bool BulkTransfer::is_status_of_this(const Datagram& datagram) const {
  const auto& header = datagram.header;
  if (header.kind != DatagramKind::status || header.session != settings_.session) return false;
  const auto status = status_of(datagram);
  if (status.crc != settings_.crc || status.bytes > file_.size()) return false;
  if (header.sequence > file_.size() / kBulkBlockBytes) return false;
  return header.sequence * kBulkBlockBytes + header.offset <= file_.size();
}

void BulkTransfer::take(const Datagram& datagram, std::int64_t now_ns) {
  if (is_over() || !is_status_of_this(datagram)) return;
  if (state_ == State::opening) begin(datagram, now_ns);
  heard_ns_ = now_ns;
  poll_ns_ = std::max(kFirstPoll_ns, again_ns_);
  if (status_of(datagram).state == BulkState::receiving) return follow(datagram, now_ns);
  end(datagram);
}

void BulkTransfer::begin(const Datagram& datagram, std::int64_t now_ns) {
  state_ = State::sending;
  board_ = datagram.header.source;
  had_before_ = received_ = status_of(datagram).bytes;
  progress_ns_ = now_ns;
  // Twice the first round trip: data that have been resent are not repeated before their status can arrive.
  if (offered_ns_) again_ns_ = std::max(again_ns_, 2 * (now_ns - *offered_ns_));
}

void BulkTransfer::follow(const Datagram& datagram, std::int64_t now_ns) {
  const auto status = status_of(datagram);
  const std::uint64_t known = datagram.header.sequence * kBulkBlockBytes + datagram.header.offset;
  // The answer to an offer sent after all pieces: whatever the board lacks was lost on the way, or by the board itself.
  // Any other status that covers less was overtaken on the way.
  const bool is_answer = offered_last_ && status.offer == offers_;
  if (!is_answer && known < known_) return;
  if (status.bytes > received_) progress_ns_ = now_ns;
  received_ = status.bytes;
  known_ = known;
  next_ = is_answer ? known : std::max(next_, known);
  window_ = std::clamp(status.room == 0 ? kWindow : std::uint64_t{status.room}, std::uint64_t{settings_.datagram_bytes},
                       kMostWindow);
  if (!again_.empty()) return;
  const auto due = resends_.due(missing_pieces_of(datagram), now_ns, kMostMissingPieces, again_ns_);
  for (auto piece : due) {
    if (piece.sequence * kBulkBlockBytes >= file_.size() || piece.sequence > file_.size() / kBulkBlockBytes) continue;
    const auto bytes = block_bytes(piece.sequence);
    piece.end = piece.end == 0 ? bytes : std::min(piece.end, bytes);
    if (piece.begin < piece.end) again_.push_back(piece);
  }
}

void BulkTransfer::end(const Datagram& datagram) {
  const auto status = status_of(datagram);
  received_ = status.bytes;
  switch (status.state) {
    case BulkState::complete:
      if (status.bytes == file_.size()) state_ = State::complete;
      return;
    case BulkState::wrong_checksum: state_ = State::wrong_checksum; return;
    case BulkState::refused: {
      const auto text = datagram.contents.subspan(sizeof status);
      reason_.assign(reinterpret_cast<const char*>(text.data()), text.size());
      state_ = State::refused;
      return;
    }
    default: return;
  }
}

void BulkTransfer::send(std::int64_t now_ns, std::uint64_t most_bytes, const Room& room) {
  note_time(now_ns);
  if (is_over()) return;
  const std::int64_t quiet_since = std::max(heard_ns_, offered_ns_.value_or(heard_ns_));
  if (!offered_ns_ || now_ns - quiet_since >= poll_ns_) offer(now_ns, room);
  if (state_ != State::sending) return;
  const std::uint64_t end = sent_bytes_ + most_bytes;
  send_again(end, room);
  if (again_.empty()) send_new(end, room);
}

void BulkTransfer::note_time(std::int64_t now_ns) {
  const bool asks_too_much = sent_bytes_ > kMostTimes * file_.size() + kFreeBytes;
  if (now_ns - heard_ns_ >= kSilence_ns) state_ = State::silent;
  if (state_ == State::sending && (now_ns - progress_ns_ >= kStall_ns || asks_too_much)) state_ = State::stalled;
}

void BulkTransfer::offer(std::int64_t now_ns, const Room& room) {
  const BulkOffer offer{.bytes = file_.size(), .crc = settings_.crc, .number = ++offers_};
  // It has the length of the longest piece, so that the board's answer is not longer than the offer.
  std::vector<std::byte> contents(settings_.datagram_bytes - sizeof(DatagramHeader));
  std::memcpy(contents.data(), &offer, sizeof offer);
  DatagramHeader header{.kind = DatagramKind::offer, .session = settings_.session};
  compose_datagram(header, contents, room(settings_.datagram_bytes));
  if (offered_ns_) poll_ns_ = std::min(2 * poll_ns_, kLastPoll_ns);
  offered_ns_ = now_ns;
  offered_last_ = true;
}

/// Sends until `end` bytes have been sent in all.
void BulkTransfer::send_again(std::uint64_t end, const Room& room) {
  while (!again_.empty() && sent_bytes_ < end) {
    auto& piece = again_.front();
    piece.begin += put(piece.sequence, piece.begin, piece.end, room);
    if (piece.begin == piece.end) again_.pop_front();
  }
}

void BulkTransfer::send_new(std::uint64_t end, const Room& room) {
  const std::uint64_t until = std::min<std::uint64_t>(file_.size(), known_ + window_);
  while (next_ < until && sent_bytes_ < end) {
    const std::uint64_t block = next_ / kBulkBlockBytes;
    const auto begin = static_cast<std::uint32_t>(next_ % kBulkBlockBytes);
    next_ += put(block, begin, block_bytes(block), room);
    offered_last_ = false;
  }
}

/// Sends one piece from `begin` on, and returns its bytes.
std::uint32_t BulkTransfer::put(std::uint64_t block, std::uint32_t begin, std::uint32_t end, const Room& room) {
  const auto most = static_cast<std::uint32_t>(settings_.datagram_bytes - sizeof(DatagramHeader));
  const std::uint32_t bytes = std::min(most, end - begin);
  DatagramHeader header{.kind = DatagramKind::piece,
                        .session = settings_.session,
                        .offset = begin,
                        .sequence = block,
                        .buffer_bytes = block_bytes(block)};
  compose_datagram(header, file_.subspan(block * kBulkBlockBytes + begin, bytes), room(sizeof header + bytes));
  sent_bytes_ += bytes;
  return bytes;
}

}  // namespace eventloom
