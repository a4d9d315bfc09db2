#include "formats/epoch_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

std::uint32_t header_crc(const EpochBufferHeader& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  return crc32c(bytes.subspan(offsetof(EpochBufferHeader, words_crc)));
}

}  // namespace

void seal_header(EpochBufferHeader& header) { header.header_crc = header_crc(header); }

void seal(EpochBufferHeader& header, std::span<const std::uint32_t> words) {
  if (!is_unknown_loss(header)) header.words_crc = crc32c(std::as_bytes(words));
  seal_header(header);
}

void append_stored(EpochBufferHeader& header, std::span<const std::uint32_t> words, std::vector<std::byte>& out) {
  seal(header, words);
  const std::size_t end = out.size() + header.stored_bytes();
  const auto head = std::as_bytes(std::span(&header, 1));
  const auto body = std::as_bytes(words);
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), body.begin(), body.end());
  out.resize(end);
}

std::optional<EpochBufferHeader> read_epoch_buffer_header(std::span<const std::byte> bytes) {
  EpochBufferHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != EpochBufferHeader::kMagic || header.header_crc != header_crc(header)) return std::nullopt;
  if (header.n_epochs == 0 || header.first_epoch + Epoch(header.n_epochs) < header.first_epoch) return std::nullopt;
  return header;
}

bool words_intact(const EpochBufferHeader& header, std::span<const std::uint32_t> words) {
  return is_unknown_loss(header) || crc32c(std::as_bytes(words)) == header.words_crc;
}

std::span<const std::uint32_t> words_of(const EpochBufferHeader& header, std::span<const std::byte> bytes) {
  const auto* first = bytes.data() + sizeof header;
  return {reinterpret_cast<const std::uint32_t*>(first), header.n_words};
}

EpochBufferEncoder::EpochBufferEncoder(std::uint32_t source, std::uint32_t epoch_ticks, std::uint64_t stream_offset,
                                       Limits limits)
    : limits_(limits), epoch_ticks_(epoch_ticks), source_(source), stream_offset_(stream_offset) {}

bool EpochBufferEncoder::must_close_before(Tick time) const {
  if (open_.n_hits == 0) return false;
  const Epoch epoch = epoch_of(time, epoch_ticks_);
  if (epoch == epoch_) return false;
  return words_.size() >= limits_.words_per_buffer ||
         epoch / limits_.epochs_per_buffer != epoch_ / limits_.epochs_per_buffer;
}

void EpochBufferEncoder::add(Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload) {
  const Epoch epoch = epoch_of(time, epoch_ticks_);
  const bool first = open_.n_hits == 0;
  if (!first && time < time_) throw std::invalid_argument("hits for an epoch buffer must come in rising time");
  if (first) open_.first_epoch = epoch;
  if (first || epoch != epoch_) writer_.epoch(epoch);
  if (first || time != time_) writer_.time(static_cast<std::uint32_t>(time % epoch_ticks_));
  writer_.channel(channel, payload);
  epoch_ = epoch;
  time_ = time;
  open_.n_hits += 1;
  open_.n_payload_words += static_cast<std::uint32_t>(payload.size());
}

std::optional<EpochBufferHeader> EpochBufferEncoder::close(std::vector<std::byte>& out) {
  if (open_.n_hits == 0) return std::nullopt;
  writer_.finish();
  open_.source = source_;
  open_.n_epochs = static_cast<std::uint32_t>(epoch_ - open_.first_epoch + 1);
  open_.n_words = static_cast<std::uint32_t>(words_.size());
  open_.hits_before = hits_before_;
  open_.stream_offset = stream_offset_;
  open_.sequence = sequence_++;
  append_stored(open_, words_, out);
  const EpochBufferHeader sealed = open_;
  hits_before_ += sealed.n_hits;
  stream_offset_ += sealed.stored_bytes();
  open_ = {};
  words_.clear();
  return sealed;
}

}  // namespace eventloom
