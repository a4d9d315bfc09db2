#include "core/ring/ring_consumer.hpp"

#include <cstring>

namespace eventloom {

RingConsumer::RingConsumer(Transport& transport, int sender, std::uint64_t ring_offset, std::uint64_t credit_offset,
                           RingGeometry geometry)
    : transport_(transport),
      sender_(sender),
      ring_offset_(ring_offset),
      credit_offset_(credit_offset),
      geometry_(geometry) {}

std::optional<Cell> RingConsumer::poll() {
  const auto ring = transport_.window().subspan(ring_offset_, geometry_.ring_bytes());
  const std::byte* place = ring.data() + released_ % geometry_.depth * sizeof(CellDescriptor);
  const auto expected = static_cast<std::uint32_t>(released_ + 1);
  // The compiler must read again each time: the window changes behind its back.
  if (*reinterpret_cast<const volatile std::uint32_t*>(place) != expected) return std::nullopt;
  transport_.sync();
  CellDescriptor descriptor;
  std::memcpy(&descriptor, place, sizeof descriptor);
  if (descriptor.sequence != expected || descriptor.crc != descriptor.checksum()) return std::nullopt;
  prefetch_next(ring);
  return Cell(ring.subspan(geometry_.cell_offset(released_), descriptor.bytes), descriptor.n_chunks,
              place + offsetof(CellDescriptor, first_header));
}

/// Cells come in batches: the next descriptor is on its way from the other core while this cell is read.
void RingConsumer::prefetch_next(std::span<const std::byte> ring) const {
  __builtin_prefetch(ring.data() + (released_ + 1) % geometry_.depth * sizeof(CellDescriptor));
}

void RingConsumer::release() { ++released_; }

void RingConsumer::grant(bool eager) {
  const std::uint64_t news = released_ - granted_released_;
  if (news == 0 && window_ == granted_window_) return;
  if (!eager && news * 2 < geometry_.depth && window_ == granted_window_) return;
  settle();
  block_.released = released_;
  block_.window = window_;
  block_.crc = block_.checksum();
  transport_.put(sender_, credit_offset_, std::as_bytes(std::span(&block_, 1)));
  unflushed_ = true;
  granted_released_ = released_;
  granted_window_ = window_;
}

void RingConsumer::settle() {
  if (unflushed_) transport_.flush(sender_);
  unflushed_ = false;
}

}  // namespace eventloom
