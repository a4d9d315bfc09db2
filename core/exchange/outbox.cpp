#include "core/exchange/outbox.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// Pieces of a body below this size are copied to the staging memory and put together with their
/// neighbours; a put of its own pays only above it.
constexpr std::size_t kStageBelow = 4096;

std::uint64_t bytes_of(const std::vector<std::span<const std::byte>>& body) {
  std::uint64_t sum = 0;
  for (const auto piece : body) sum += piece.size();
  return sum;
}

}  // namespace

Outbox::Outbox(RingProducer ring, BodyCrc body_crc)
    : ring_(std::move(ring)), body_crc_(body_crc), staging_(ring_.geometry().depth) {}

bool Outbox::accepts(SliceId slice) {
  return free() && slice.value < ring_.window() && (ring_.has_open_cell() || ring_.credits() > 0);
}

void Outbox::start(Message message) {
  assert(free());
  UnderWay next;
  next.header.slice = message.slice.value;
  next.header.total_bytes = bytes_of(message.body);
  next.header.origin = message.origin;
  next.header.goes_on = message.goes_on ? 1 : 0;
  next.header.n_damage = message.n_damage;
  next.body = std::move(message.body);
  message_ = std::move(next);
}

void Outbox::start_end(std::uint32_t origin, SliceId end, std::span<const Damage> damage) {
  assert(free());
  UnderWay next;
  next.header.slice = end.value;
  next.header.origin = origin;
  next.header.kind = ChunkHeader::kEnd;
  next.header.total_bytes = damage.size_bytes();
  next.header.n_damage = static_cast<std::uint32_t>(damage.size());
  if (!damage.empty()) next.body.push_back(std::as_bytes(damage));
  message_ = std::move(next);
}

bool Outbox::pump() {
  bool moved = false;
  while (message_ && ensure_room()) {
    put_chunk();
    moved = true;
  }
  return moved;
}

/// An open cell with room for a header and, unless the body is empty, some of it.
bool Outbox::ensure_room() {
  const bool empty = message_->header.total_bytes == 0;
  const std::uint64_t left = message_->header.total_bytes - message_->header.offset;
  const auto want = sizeof(ChunkHeader) + (empty ? 0 : std::min<std::uint64_t>(left, 64));
  if (ring_.has_open_cell() && used_ + want > ring_.geometry().cell_bytes) close_cell();
  if (ring_.has_open_cell()) return true;
  if (ring_.credits() == 0) return false;
  ring_.claim();
  used_ = 0;
  staged_from_ = 0;
  staging_[cell_ % staging_.size()].resize(ring_.geometry().cell_bytes);
  return true;
}

/// The next pieces of the body, as many as fit behind a header in the open cell.
void Outbox::next_chunk() {
  auto& m = *message_;
  std::uint64_t left = std::min<std::uint64_t>(m.header.total_bytes - m.header.offset,
                                               ring_.geometry().cell_bytes - used_ - sizeof m.header);
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
  auto& header = message_->header;
  const bool copied = std::ranges::all_of(chunk_, [](const auto part) { return part.size() < kStageBelow; });
  header.has_body_crc = copied || body_crc_ == BodyCrc::all ? 1 : 0;
  header.body_crc = 0;
  if (header.has_body_crc != 0) {
    for (const auto part : chunk_) header.body_crc = crc32c(part, header.body_crc);
  }
  header.crc = crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(ChunkHeader, crc)));
  stage(std::as_bytes(std::span(&header, 1)));
  for (const auto part : chunk_) {
    if (part.size() < kStageBelow) {
      stage(part);
    } else {
      put_directly(part);
    }
  }
  used_ = static_cast<std::uint32_t>(padded(used_));
  header.offset += header.bytes;
  if (header.offset == header.total_bytes) message_.reset();
}

void Outbox::stage(std::span<const std::byte> bytes) {
  std::memcpy(staging_[cell_ % staging_.size()].data() + used_, bytes.data(), bytes.size());
  used_ += static_cast<std::uint32_t>(bytes.size());
}

void Outbox::put_directly(std::span<const std::byte> bytes) {
  put_staged();
  ring_.put(used_, bytes);
  used_ += static_cast<std::uint32_t>(bytes.size());
  staged_from_ = used_;
}

void Outbox::put_staged() {
  if (staged_from_ == used_) return;
  const auto& staging = staging_[cell_ % staging_.size()];
  ring_.put(staged_from_, std::span(staging).subspan(staged_from_, used_ - staged_from_));
  staged_from_ = used_;
}

void Outbox::close_cell() {
  put_staged();
  ring_.commit(used_);
  ++cell_;
}

void Outbox::publish() {
  if (ring_.has_open_cell()) close_cell();
  ring_.publish();
}

void Outbox::settle() {
  publish();
  ring_.settle();
}

}  // namespace eventloom
