#include "io/epochs/stream_layout.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "formats/marker_reader.hpp"

namespace eventloom {

namespace {

/// Tracks the earliest and latest time of the hits.
struct TimeRange {
  std::uint32_t epoch_ticks;
  Tick epoch_begin = 0;
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;

  void epoch(Epoch epoch) { epoch_begin = tick_of_epoch(epoch, epoch_ticks); }
  void hit(std::uint32_t tick_in_epoch, std::uint32_t, std::span<const std::uint32_t>) {
    const Tick time = epoch_begin + Tick(tick_in_epoch);
    first = std::min(first, time);
    last = std::max(last, time);
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
};

TimeRange time_range(const EpochBufferHeader& buffer, std::span<const std::uint32_t> words,
                     const StreamHeader& stream) {
  TimeRange range{stream.base.epoch_ticks};
  const MarkerContext context{buffer.epochs(), stream.base.epoch_ticks, stream.payload};
  MarkerReader(words, context, range).read();
  return range;
}

}  // namespace

void StreamLayout::put(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
  offset_ += bytes.size();
}

void StreamLayout::begin(std::vector<std::byte>& out) { put(encode_stream_header(header_), out); }

void StreamLayout::place(std::span<const std::byte> buffers, std::vector<std::byte>& out) {
  while (!buffers.empty()) {
    auto header = read_epoch_buffer_header(buffers);
    if (!header || header->stored_bytes() > buffers.size()) {
      throw std::invalid_argument("only whole epoch buffers can be appended to a stream file");
    }
    const auto stored = buffers.first(header->stored_bytes());
    const auto words = words_of(*header, stored);
    header->sequence = index_.size();
    header->hits_before = trailer_.n_hits;
    header->stream_offset = offset_;
    header->source = header_.source;
    seal(*header, words);
    index_.push_back(
        {offset_, header->first_epoch, header->n_epochs, header->n_hits, header->n_words, header->words_crc});
    if (index_.size() == 1) trailer_.first_tick = time_range(*header, words, header_).first;
    trailer_.n_hits += header->n_hits;
    put(std::as_bytes(std::span(&*header, 1)), out);
    put(stored.subspan(sizeof *header), out);
    if (!words.empty()) {
      last_.assign(words.begin(), words.end());
      last_header_ = *header;
    }
    buffers = buffers.subspan(stored.size());
  }
}

void StreamLayout::end(std::vector<std::byte>& out) {
  if (!last_.empty()) trailer_.last_tick = time_range(last_header_, last_, header_).last;
  trailer_.index_offset = offset_;
  trailer_.n_buffers = index_.size();
  seal(trailer_, index_);
  put(std::as_bytes(std::span(index_)), out);
  put(std::as_bytes(std::span(&trailer_, 1)), out);
}

StreamSummary StreamLayout::summary() const {
  return {index_.size(), trailer_.n_hits, offset_, trailer_.first_tick, trailer_.last_tick};
}

}  // namespace eventloom
