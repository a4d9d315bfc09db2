#include "core/ring/ring_consumer.hpp"

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom {

RingConsumer::RingConsumer(Windows windows, int sender, std::uint64_t ring_offset, std::uint64_t credit_offset,
                           RingGeometry geometry, Patience patience)
    : windows_(windows),
      sender_(sender),
      ring_offset_(ring_offset),
      credit_offset_(credit_offset),
      geometry_(geometry),
      patience_(patience) {}

std::optional<Cell> RingConsumer::poll() {
  const auto ring = windows_.data.window().subspan(ring_offset_, geometry_.span_bytes());
  std::byte* place = ring.data() + released_ % geometry_.depth * sizeof(CellDescriptor);
  const auto expected = static_cast<std::uint32_t>(released_ + 1);
  // The window changes without the compiler's knowledge: no read below may be moved before this load.
  const std::atomic_ref sequence(*reinterpret_cast<std::uint32_t*>(place));
  if (sequence.load(std::memory_order_acquire) != expected) return std::nullopt;
  windows_.data.sync();
  CellDescriptor descriptor;
  std::memcpy(&descriptor, place, sizeof descriptor);
  if (descriptor.sequence != expected || descriptor.crc != descriptor.checksum()) {
    wait_for_proof();
    return std::nullopt;
  }
  prefetch_next(ring);
  return cell(descriptor, ring);
}

Cell RingConsumer::cell(const CellDescriptor& descriptor, std::span<const std::byte> ring) const {
  const std::uint64_t headers = descriptor.n_chunks > 1 ? (descriptor.n_chunks - 1) * ChunkHeader::kBytes : 0;
  if (descriptor.bytes > geometry_.cell_bytes || headers > descriptor.bytes) {
    throw std::runtime_error("exchange: rank " + std::to_string(sender_) + " announces a cell of " +
                             std::to_string(descriptor.bytes) + " bytes with " + std::to_string(descriptor.n_chunks) +
                             " chunks; its cells have " + std::to_string(geometry_.cell_bytes) + " bytes");
  }
  const std::byte* place = ring.data() + released_ % geometry_.depth * sizeof(CellDescriptor);
  return {ring.subspan(geometry_.cell_offset(released_), descriptor.bytes), descriptor.n_chunks,
          place + offsetof(CellDescriptor, first_header), descriptor.sequence};
}

void RingConsumer::wait_for_proof() {
  if (!patience_.exhausted()) return;
  throw std::runtime_error("exchange: a cell from rank " + std::to_string(sender_) + " never matched its checksum");
}

/// Cells come in batches: the next descriptor is fetched from the other core while this cell is read.
void RingConsumer::prefetch_next(std::span<const std::byte> ring) const {
  __builtin_prefetch(ring.data() + (released_ + 1) % geometry_.depth * sizeof(CellDescriptor));
}

void RingConsumer::release() {
  ++released_;
  patience_.reset();
}

void RingConsumer::grant(bool eager) {
  const std::uint64_t news = released_ - granted_released_;
  if (news == 0 && slice_limit_ == granted_slice_limit_) return;
  if (!eager && news * 2 < geometry_.depth && slice_limit_ == granted_slice_limit_) return;
  const std::uint64_t place = (n_grants_ + 1) % kCreditPlaces;
  auto& [block, round] = grants_[place];
  if (n_grants_ >= kCreditPlaces && windows_.control.rounds(sender_) == round) windows_.control.flush(sender_);
  ++n_grants_;
  // The sender may overwrite the released cells once it sees the grant, so all reads of them must be complete.
  std::atomic_thread_fence(std::memory_order_release);
  windows_.data.sync();
  block.released = released_;
  block.slice_limit = slice_limit_;
  block.number = n_grants_;
  block.crc = block.checksum();
  round = windows_.control.rounds(sender_);
  windows_.control.put(sender_, credit_offset_ + place * sizeof block, std::as_bytes(std::span(&block, 1)));
  granted_released_ = released_;
  granted_slice_limit_ = slice_limit_;
}

}  // namespace eventloom
