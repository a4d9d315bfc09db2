#include "io/sources/encoded_stream.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

constexpr std::size_t kChunkBytes = 256U << 10;

}  // namespace

EncodedStream::EncodedStream(std::unique_ptr<HitReader> reader, std::size_t reorder)
    : reader_(std::move(reader)),
      ordered_(*reader_, reorder),
      encoder_(reader_->header().source, reader_->header().base.epoch_ticks,
               encode_stream_header(reader_->header()).size(), {}) {}

std::optional<Epoch> EncodedStream::first_epoch() {
  if (!first_epoch_) read_until(1);
  return first_epoch_;
}

std::optional<Epoch> EncodedStream::end_epoch() const { return ended_ ? std::optional(end_epoch_) : std::nullopt; }

/// Afterwards every buffer that begins before `epoch` is closed, or the stream has ended.
void EncodedStream::read_until(Epoch epoch) {
  ReorderBuffer::Hit hit;
  while (!ended_ && encoder_.open_from().value_or(0) < epoch) {
    if (!ordered_.next(hit)) {
      close_buffer();
      ended_ = true;
      return;
    }
    if (encoder_.must_close_before(hit.time)) close_buffer();
    encoder_.add(hit.time, hit.channel, hit.payload);
    const Epoch at = hit.time / reader_->header().base.epoch_ticks;
    if (!first_epoch_) first_epoch_ = at;
    end_epoch_ = at + 1;
  }
}

void EncodedStream::close_buffer() {
  closed_.clear();
  const auto header = encoder_.close(closed_);
  if (!header) return;
  if (chunks_.empty() || chunks_.back().bytes.capacity() - chunks_.back().bytes.size() < closed_.size()) {
    chunks_.emplace_back();
    chunks_.back().bytes.reserve(std::max(kChunkBytes, closed_.size()));
  }
  auto& chunk = chunks_.back();
  chunk.buffers.push_back(
      {chunk.bytes.size(), header->first_epoch, header->n_epochs, header->n_hits, header->n_words, header->words_crc});
  chunk.bytes.insert(chunk.bytes.end(), closed_.begin(), closed_.end());
}

void EncodedStream::collect(EpochRange epochs, SliceData& out) {
  read_until(epochs.end);
  for (const auto& chunk : chunks_) {
    const auto& buffers = chunk.buffers;
    if (buffers.back().epochs().end <= epochs.begin) continue;
    if (buffers.front().first_epoch >= epochs.end) break;
    const auto first =
        std::ranges::upper_bound(buffers, epochs.begin, {}, [](const auto& b) { return b.epochs().end; });
    const auto last = std::ranges::lower_bound(buffers, epochs.end, {}, &IndexEntry::first_epoch);
    if (first >= last) continue;
    const std::size_t begin = first->offset;
    const std::size_t end = last == buffers.end() ? chunk.bytes.size() : last->offset;
    out.pieces.push_back(std::span(chunk.bytes).subspan(begin, end - begin));
  }
}

void EncodedStream::forget(Epoch epoch) {
  // The newest chunk is still being filled.
  while (chunks_.size() > 1 && chunks_.front().buffers.back().epochs().end <= epoch) chunks_.pop_front();
}

}  // namespace eventloom
