#include "core/exchange/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// Smaller pieces of a longer message are not put into a cell; the cell is closed instead.
constexpr std::uint64_t kSmallestPiece = 64;

void require_transferable(std::uint64_t bytes) {
  if (bytes > kMaxMessageBytes) {
    throw UserError("a slice takes " + std::to_string(bytes) + " bytes in one message; the limit is " +
                    std::to_string(kMaxMessageBytes) + ": choose a smaller " + name_of(Setting::epochs_per_slice));
  }
}

}  // namespace

std::uint64_t bytes_of(std::span<const std::span<const std::byte>> pieces) {
  std::uint64_t sum = 0;
  for (const auto piece : pieces) sum += piece.size();
  return sum;
}

Outbox::Outbox(RingProducer ring, BodyCrc body_crc)
    : ring_(std::move(ring)), body_crc_(body_crc), staging_(most_staged_cells(ring_.geometry())) {
  ring_.limit_incomplete(static_cast<std::uint32_t>(staging_.size()));
}

bool Outbox::accepts(SliceId slice) { return free() && ring_.admits(slice.value); }

Outbox::Pending& Outbox::begin() {
  assert(free());
  busy_ = true;
  message_.header = {};
  message_.body.clear();
  message_.piece = message_.in_piece = 0;
  return message_;
}

void Outbox::start(const Message& message) {
  auto& next = begin();
  next.body.assign(message.body.begin(), message.body.end());
  next.header.slice = message.slice.value;
  next.header.total_bytes = bytes_of(next.body);
  next.header.origin = message.origin;
  next.header.has_more = message.has_more ? 1 : 0;
  next.header.n_damage = message.n_damage;
  if (message.lent_bytes != 0) next.header.kind = ChunkHeader::kLent;
  const auto bytes = next.header.total_bytes + message.lent_bytes;
  require_transferable(bytes);
  ++counters_[Metric::messages];
  counters_[Metric::message_bytes] += bytes;
}

void Outbox::start_end(std::uint32_t origin, SliceId end, std::span<const Damage> damage) {
  auto& next = begin();
  next.header.slice = end.value;
  next.header.origin = origin;
  next.header.kind = ChunkHeader::kEnd;
  next.header.total_bytes = damage.size_bytes();
  next.header.n_damage = static_cast<std::uint32_t>(damage.size());
  if (!damage.empty()) next.body.push_back(std::as_bytes(damage));
}

void Outbox::start_gap(std::uint32_t origin, SliceRange gap, std::span<const Damage> damage) {
  auto& next = begin();
  next.gap_end = gap.end.value;
  next.body.push_back(std::as_bytes(std::span(&next.gap_end, 1)));
  next.header.slice = gap.begin.value;
  next.header.origin = origin;
  next.header.kind = ChunkHeader::kGap;
  next.header.total_bytes = sizeof next.gap_end + damage.size_bytes();
  if (!damage.empty()) next.body.push_back(std::as_bytes(damage));
}

bool Outbox::pump() {
  bool moved = false;
  while (busy_ && ensure_room()) {
    put_chunk();
    moved = true;
  }
  return moved;
}

/// Ensures an open cell with room for a header and, unless the body is empty, some of it.
bool Outbox::ensure_room() {
  const std::uint64_t left = message_.header.total_bytes - message_.header.offset;
  if (ring_.has_open_cell() && room() < static_cast<std::int64_t>(std::min(left, kSmallestPiece))) close_cell();
  if (ring_.has_open_cell()) return true;
  if (!ring_.has_room()) return false;
  if (ring_.needs_flush()) flush();
  ring_.claim();
  used_ = staged_from_ = staged_to_ = n_chunks_ = 0;
  proof_ = body_crc_ == BodyCrc::staged ? Proof::flush : Proof::checksum;
  open_ = &staging_[ring_.cells() % staging_.size()];
  open_->headers.clear();
  return true;
}

/// Bytes of a body that fit the open cell with one more header; negative if not even the header fits.
std::int64_t Outbox::room() const {
  const std::uint64_t headers = std::uint64_t{n_chunks_} * ChunkHeader::kBytes;  // the first is in the descriptor
  const std::uint64_t end = std::uint64_t{ring_.geometry().cell_bytes} / 64 * 64;
  return static_cast<std::int64_t>(end - headers_offset(headers)) - static_cast<std::int64_t>(used_);
}

/// Selects the next pieces of the body, as many as fit after a header in the open cell. Damage records take effect on
/// arrival, so they must be proven: they never share a chunk with data that have no checksum.
void Outbox::next_chunk() {
  auto& m = message_;
  std::uint64_t left =
      std::min(m.header.total_bytes - m.header.offset, static_cast<std::uint64_t>(std::max<std::int64_t>(room(), 0)));
  if (m.header.offset < m.header.damage_bytes()) left = std::min(left, m.header.damage_bytes() - m.header.offset);
  m.header.bytes = static_cast<std::uint32_t>(left);
  chunk_.clear();
  while (left > 0) {
    const auto rest = m.body[m.piece].subspan(m.in_piece);
    const auto part = rest.first(std::min<std::uint64_t>(left, rest.size()));
    if (!part.empty()) chunk_.push_back(part);
    left -= part.size();
    m.in_piece += part.size();
    if (part.size() == rest.size()) {
      ++m.piece;
      m.in_piece = 0;
    }
  }
}

void Outbox::put_chunk() {
  next_chunk();
  auto& header = message_.header;
  const bool copied = std::ranges::all_of(chunk_, [](const auto part) { return part.size() < kCopiedBelow; });
  const bool damage = header.offset < header.damage_bytes();
  header.has_body_crc = copied || damage || body_crc_ == BodyCrc::all ? 1 : 0;
  header.body_crc = 0;
  if (header.has_body_crc != 0) {
    for (const auto part : chunk_) header.body_crc = crc32c(part, header.body_crc);
  } else if (body_crc_ == BodyCrc::none) {
    proof_ = Proof::order;
  }
  add_header();
  for (const auto part : chunk_) {
    if (part.size() < kCopiedBelow) {
      stage(part);
    } else {
      put_directly(part);
    }
  }
  pad();
  header.offset += header.bytes;
  if (header.offset == header.total_bytes) busy_ = false;
}

/// Only padding between staged bytes is sent, so that every put ends with a byte that the receiver checks.
void Outbox::pad() {
  const bool staged = staged_from_ != used_;
  staged_to_ = used_;
  used_ = static_cast<std::uint32_t>(padded(used_));
  if (!staged) staged_from_ = used_;
}

void Outbox::add_header() {
  if (n_chunks_ == 0) {
    first_header_ = message_.header;
  } else {
    open_->headers.resize(n_chunks_ * ChunkHeader::kBytes);
    message_.header.store(open_->headers.data() + (n_chunks_ - 1) * ChunkHeader::kBytes, ring_.open_number());
  }
  ++n_chunks_;
}

void Outbox::stage(std::span<const std::byte> bytes) {
  open_->bodies.resize(ring_.geometry().cell_bytes);
  std::memcpy(open_->bodies.data() + used_, bytes.data(), bytes.size());
  used_ += static_cast<std::uint32_t>(bytes.size());
  staged_to_ = used_;
}

void Outbox::put_directly(std::span<const std::byte> bytes) {
  put_staged();
  ring_.put(used_, bytes);
  used_ += static_cast<std::uint32_t>(bytes.size());
  staged_from_ = used_;
}

void Outbox::put_staged() {
  if (staged_from_ < staged_to_) {
    ring_.put(staged_from_, std::span(open_->bodies).subspan(staged_from_, staged_to_ - staged_from_));
  }
  staged_from_ = used_;
}

void Outbox::close_cell() {
  put_staged();
  auto end = used_;
  if (!open_->headers.empty()) {
    const auto headers = static_cast<std::uint32_t>(headers_offset(used_));
    ring_.put(headers, open_->headers);
    end = headers + static_cast<std::uint32_t>(open_->headers.size());
  }
  ring_.commit(end, n_chunks_, first_header_, proof_);
  ++counters_[Metric::cells];
  counters_[Metric::cell_bytes] += end;
}

void Outbox::publish() {
  if (ring_.has_open_cell()) close_cell();
  if (ring_.publish()) ++counters_[Metric::notifications];
}

void Outbox::flush() {
  publish();
  ring_.flush();
}

}  // namespace eventloom
