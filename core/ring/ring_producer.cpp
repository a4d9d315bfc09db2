#include "core/ring/ring_producer.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom {

RingProducer::RingProducer(Transport& transport, int receiver, std::uint64_t ring_offset, std::uint64_t credit_offset,
                           RingGeometry geometry)
    : transport_(transport),
      receiver_(receiver),
      ring_offset_(ring_offset),
      credit_offset_(credit_offset),
      geometry_(geometry),
      descriptors_(std::size_t{2} * geometry.depth) {}

void RingProducer::refresh_credit() {
  CreditBlock credit;
  std::memcpy(&credit, transport_.window().data() + credit_offset_, sizeof credit);
  if (credit.crc == credit_.crc && credit.released == credit_.released && credit.slice_limit == credit_.slice_limit)
    return;
  // A block that is being written is not valid; the previous grant still holds.
  if (credit.released < released_ || credit.crc != credit.checksum()) return;
  if (credit.released > published_) {
    throw std::runtime_error("exchange: rank " + std::to_string(receiver_) + " released " +
                             std::to_string(credit.released) + " cells, but only " + std::to_string(published_) +
                             " were sent to it");
  }
  // Nothing may be put into the granted cells before the grant is seen.
  std::atomic_thread_fence(std::memory_order_acquire);
  transport_.sync();
  credit_ = credit;
  released_ = credit.released;
  slice_limit_ = std::max(slice_limit_, credit.slice_limit);
}

std::uint32_t RingProducer::credits() {
  refresh_credit();
  return geometry_.depth - static_cast<std::uint32_t>(committed_ + (open_ ? 1 : 0) - released_);
}

std::uint64_t RingProducer::slice_limit() {
  refresh_credit();
  return slice_limit_;
}

void RingProducer::claim() {
  assert(!open_ && committed_ - released_ < geometry_.depth);
  open_ = true;
}

void RingProducer::put(std::uint32_t offset, std::span<const std::byte> data) {
  assert(open_ && offset + data.size() <= geometry_.cell_bytes);
  transport_.put(receiver_, ring_offset_ + geometry_.cell_offset(committed_) + offset, data);
  unflushed_ = true;
}

void RingProducer::commit(std::uint32_t bytes, std::uint32_t n_chunks, const ChunkHeader& first) {
  assert(open_);
  auto& descriptor = descriptor_of(committed_);
  descriptor.sequence = static_cast<std::uint32_t>(++committed_);
  descriptor.bytes = bytes;
  descriptor.n_chunks = n_chunks;
  first.store(descriptor.first_header.data());
  descriptor.crc = descriptor.checksum();
  open_ = false;
}

bool RingProducer::publish() {
  if (published_ == committed_) return false;
  transport_.flush(receiver_);
  const std::uint64_t wrap = published_ + geometry_.depth - published_ % geometry_.depth;
  put_descriptors(published_, std::min(committed_, wrap));
  if (committed_ > wrap) put_descriptors(wrap, committed_);
  published_ = committed_;
  return true;
}

/// Of the cells [from, to), which are adjacent in the ring.
void RingProducer::put_descriptors(std::uint64_t from, std::uint64_t to) {
  const auto bytes = std::as_bytes(std::span(&descriptor_of(from), to - from));
  transport_.put(receiver_, ring_offset_ + from % geometry_.depth * sizeof(CellDescriptor), bytes);
  unflushed_ = true;
}

void RingProducer::flush() {
  publish();
  if (unflushed_) transport_.flush(receiver_);
  unflushed_ = false;
}

}  // namespace eventloom
