#include "io/live/held_data.hpp"

#include <limits>
#include <utility>

#include "formats/clip_buffer.hpp"

namespace eventloom {

namespace {

/// Memory of up to this size is reused for the next chunk.
constexpr std::size_t kSpareBytes = std::size_t{1} << 20;

std::size_t bytes_of(const HeldBuffers& chunk) {
  return chunk.bytes.capacity() + chunk.buffers.size() * sizeof(IndexEntry);
}

}  // namespace

std::vector<std::byte> HeldData::take_spare() {
  auto memory = std::exchange(spare_, {});
  memory.clear();
  return memory;
}

void HeldData::keep_spare(std::vector<std::byte>& memory) {
  if (memory.capacity() <= kSpareBytes) spare_ = std::move(memory);
}

void HeldData::add(HeldBuffers chunk, std::size_t kept) {
  auto& memory = chunk.bytes;
  memory.resize(kept);
  if (kept == 0) return keep_spare(memory);
  if (memory.capacity() > kept + kept / 2) {
    std::vector<std::byte> exact(memory);
    keep_spare(memory);
    memory = std::move(exact);
  }
  chunk.buffers.shrink_to_fit();
  bytes_ += bytes_of(chunk);
  chunks_.push_back(std::move(chunk));
  extend_oldest();
}

std::deque<HeldBuffers> HeldData::take_all() {
  bytes_ = oldest_ = oldest_bytes_ = 0;
  return std::exchange(chunks_, {});
}

bool HeldData::has_room(std::size_t taken, const EpochBufferHeader& header) const {
  return bytes_ + taken + header.stored_bytes() + sizeof(IndexEntry) <= limit_;
}

bool HeldData::stays_full(Epoch epoch) const {
  std::size_t bytes = 0;
  for (std::size_t i = chunks_.size(); i-- > 0 && chunks_[i].end() > epoch;) bytes += bytes_of(chunks_[i]);
  return bytes >= limit_;
}

void HeldData::extend_oldest() {
  while (!is_much(oldest_bytes_) && oldest_ < chunks_.size()) oldest_bytes_ += bytes_of(chunks_[oldest_++]);
}

Epoch HeldData::crowded_before() const {
  return is_much(oldest_bytes_) ? chunks_[oldest_ - 1].end() : std::numeric_limits<Epoch>::max();
}

void HeldData::release_before(Epoch epoch) {
  while (!chunks_.empty() && chunks_.front().end() <= epoch) {
    const auto bytes = bytes_of(chunks_.front());
    bytes_ -= bytes;
    oldest_bytes_ -= bytes;
    --oldest_;
    keep_spare(chunks_.front().bytes);
    chunks_.pop_front();
    extend_oldest();
  }
}

std::uint64_t HeldData::hits_from(Epoch end, const StreamHeader& header) const {
  std::uint64_t hits = 0;
  std::vector<std::byte> before;
  for (const auto& chunk : chunks_) {
    for (auto buffer = chunk.first_behind(end); buffer != chunk.buffers.end(); ++buffer) {
      hits += buffer->n_hits;
      if (buffer->first_epoch >= end) continue;
      before.clear();
      const auto stored = std::span(chunk.bytes).subspan(buffer->offset);
      const auto kept = clip_stored(stored, {0, end}, header, before);
      hits -= kept ? kept->n_hits : buffer->n_hits;
    }
  }
  return hits;
}

void HeldData::copy_from(Epoch end, const StreamHeader& header, std::vector<std::byte>& out) const {
  for (const auto& chunk : chunks_) {
    for (auto buffer = chunk.first_behind(end); buffer != chunk.buffers.end(); ++buffer) {
      const auto stored = std::span(chunk.bytes).subspan(buffer->offset);
      if (buffer->first_epoch < end) {
        (void)clip_stored(stored, {end, buffer->epochs().end}, header, out);
        continue;
      }
      const auto whole = stored.first(read_epoch_buffer_header(stored)->stored_bytes());
      out.insert(out.end(), whole.begin(), whole.end());
    }
  }
}

}  // namespace eventloom
