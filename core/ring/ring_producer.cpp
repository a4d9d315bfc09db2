#include "core/ring/ring_producer.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom {

RingProducer::RingProducer(Windows windows, int receiver, std::uint64_t ring_offset, std::uint64_t credit_offset,
                           RingGeometry geometry)
    : windows_(windows),
      receiver_(receiver),
      ring_offset_(ring_offset),
      credit_offset_(credit_offset),
      geometry_(geometry),
      most_incomplete_(geometry.depth),
      descriptors_(geometry.depth),
      round_(windows.data.rounds(receiver)) {}

/// Grants may arrive in any order, but are taken in sequence; some are overwritten by later ones before they are seen.
void RingProducer::refresh_credit() {
  while (take_next_credit()) {
  }
}

bool RingProducer::take_next_credit() {
  CreditBlock credit;
  const auto place = credit_offset_ + (grants_ + 1) % kCreditPlaces * sizeof credit;
  const std::byte* block = windows_.control.window().data() + place;
  std::memcpy(&credit.number, block + offsetof(CreditBlock, number), sizeof credit.number);
  if (credit.number <= grants_) return false;
  std::memcpy(&credit, block, sizeof credit);
  // A block being written is invalid; the previous grant still holds.
  if (credit.number <= grants_ || credit.crc != credit.checksum()) return false;
  if (credit.released < released_ || credit.released > published_) {
    throw std::runtime_error("exchange: rank " + std::to_string(receiver_) + " released " +
                             std::to_string(credit.released) + " cells after " + std::to_string(released_) + "; " +
                             std::to_string(published_) + " were sent to it");
  }
  // Puts into the granted cells must come after the grant is seen.
  std::atomic_thread_fence(std::memory_order_acquire);
  windows_.data.sync();
  grants_ = credit.number;
  released_ = credit.released;
  slice_limit_ = std::max(slice_limit_, credit.slice_limit);
  return true;
}

/// Any flush to the receiver, also one for another ring, completes what this ring has put before.
void RingProducer::notice_flushes() {
  const auto round = windows_.data.rounds(receiver_);
  if (round == round_) return;
  round_ = round;
  complete_ = published_;
  data_flushed_ = committed_;
}

std::uint64_t RingProducer::complete_cells() {
  notice_flushes();
  if (is_near()) return complete_;
  refresh_credit();
  return std::max(complete_, released_);
}

std::uint32_t RingProducer::credits() {
  refresh_credit();
  return geometry_.depth - cells_in_use();
}

bool RingProducer::admits(std::uint64_t slice) {
  if (!admitted(slice)) refresh_credit();
  return admitted(slice) && (open_ || !must_wait());
}

void RingProducer::claim() {
  assert(!open_ && committed_ - released_ < geometry_.depth);
  if (needs_flush()) flush();
  open_ = true;
}

void RingProducer::put(std::uint32_t offset, std::span<const std::byte> data) {
  assert(open_ && offset + data.size() <= geometry_.cell_bytes);
  notice_flushes();
  windows_.data.put(receiver_, ring_offset_ + geometry_.cell_offset(committed_) + offset, data);
}

void RingProducer::commit(std::uint32_t bytes, std::uint32_t n_chunks, const ChunkHeader& first, Proof proof) {
  assert(open_);
  notice_flushes();
  auto& descriptor = descriptor_of(committed_);
  descriptor.sequence = static_cast<std::uint32_t>(++committed_);
  descriptor.bytes = bytes;
  descriptor.n_chunks = n_chunks;
  first.store(descriptor.first_header.data(), descriptor.sequence);
  descriptor.crc = descriptor.checksum();
  if (proof == Proof::flush) unproven_end_ = committed_;
  if (proof == Proof::order) ordered_end_ = committed_;
  open_ = false;
}

bool RingProducer::publish() {
  if (published_ == committed_) return false;
  notice_flushes();
  if (unproven_end_ > data_flushed_) windows_.data.flush(receiver_);
  notice_flushes();
  const std::uint64_t wrap = published_ + geometry_.depth - published_ % geometry_.depth;
  put_descriptors(published_, std::min(committed_, wrap));
  if (committed_ > wrap) put_descriptors(wrap, committed_);
  published_ = committed_;
  return true;
}

/// Puts the descriptors of the cells [from, to), which are adjacent in the ring.
void RingProducer::put_descriptors(std::uint64_t from, std::uint64_t to) {
  const auto bytes = std::as_bytes(std::span(&descriptor_of(from), to - from));
  const auto place = ring_offset_ + from % geometry_.depth * sizeof(CellDescriptor);
  if (ordered_end_ > from) {
    windows_.data.put_notice(receiver_, place, bytes);
  } else {
    windows_.data.put(receiver_, place, bytes);
  }
}

void RingProducer::flush() {
  publish();
  windows_.data.flush(receiver_);
  notice_flushes();
}

}  // namespace eventloom
