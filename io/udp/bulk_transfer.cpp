#include "io/udp/bulk_transfer.hpp"

#include <cstring>
#include <vector>

namespace eventloom {

BulkTransfer::BulkTransfer(std::span<const std::byte> file, const Settings& settings, std::int64_t now_ns)
    : file_bytes_(file.size()),
      settings_(settings),
      pieces_(file, settings.datagram_bytes, settings.session),
      heard_ns_(now_ns),
      progress_ns_(now_ns) {}

bool BulkTransfer::is_status_of_this(const Datagram& datagram) const {
  const auto& header = datagram.header;
  if (header.kind != DatagramKind::status || header.session != settings_.session) return false;
  const auto status = status_of(datagram);
  if (status.crc != settings_.crc || status.bytes > file_bytes_) return false;
  return header.sequence <= file_bytes_ / kBulkBlockBytes && known_of(datagram) <= file_bytes_;
}

void BulkTransfer::take(const Datagram& datagram, std::int64_t now_ns) {
  if (is_over() || !is_status_of_this(datagram)) return;
  if (state_ == State::opening) begin(datagram, now_ns);
  heard_ns_ = now_ns;
  offers_.note_answer(pieces_.again_ns());
  if (status_of(datagram).state == BulkState::receiving) return follow(datagram, now_ns);
  end(datagram);
}

void BulkTransfer::begin(const Datagram& datagram, std::int64_t now_ns) {
  state_ = State::sending;
  board_ = datagram.header.source;
  had_before_ = received_ = status_of(datagram).bytes;
  progress_ns_ = now_ns;
  // Twice the first round trip: data that have been resent are not repeated before their status can arrive.
  if (const auto offered_ns = offers_.offered_ns()) pieces_.wait_for(2 * (now_ns - *offered_ns));
}

void BulkTransfer::follow(const Datagram& datagram, std::int64_t now_ns) {
  const auto status = status_of(datagram);
  // The answer to an offer sent after all pieces: whatever the board lacks was lost on the way, or by the board itself.
  // Any other status that covers less was overtaken on the way.
  const bool is_answer = pieces_.none_since_offer() && status.offer == offers_.number();
  if (!is_answer && pieces_.is_outdated(known_of(datagram))) return;
  if (status.bytes > received_) progress_ns_ = now_ns;
  received_ = status.bytes;
  pieces_.follow(datagram, is_answer, now_ns);
}

void BulkTransfer::end(const Datagram& datagram) {
  const auto status = status_of(datagram);
  received_ = status.bytes;
  switch (status.state) {
    case BulkState::complete:
      if (status.bytes == file_bytes_) state_ = State::complete;
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
  if (offers_.is_due(now_ns, heard_ns_)) offer(now_ns, room);
  if (state_ == State::sending) pieces_.send(most_bytes, room);
}

void BulkTransfer::note_time(std::int64_t now_ns) {
  const bool asks_too_much = sent_bytes() > kMostTimes * file_bytes_ + kFreeBytes;
  if (now_ns - heard_ns_ >= kSilence_ns) state_ = State::silent;
  if (state_ == State::sending && (now_ns - progress_ns_ >= kStall_ns || asks_too_much)) state_ = State::stalled;
}

void BulkTransfer::offer(std::int64_t now_ns, const Room& room) {
  const BulkOffer offer{.bytes = file_bytes_, .crc = settings_.crc, .number = offers_.next(now_ns)};
  // It has the length of the longest piece, so that the board's answer is not longer than the offer.
  std::vector<std::byte> contents(settings_.datagram_bytes - sizeof(DatagramHeader));
  std::memcpy(contents.data(), &offer, sizeof offer);
  DatagramHeader header{.kind = DatagramKind::offer, .session = settings_.session};
  compose_datagram(header, contents, room(settings_.datagram_bytes));
  pieces_.note_offer();
}

}  // namespace eventloom
