#include "formats/clip_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/marker_reader.hpp"

namespace eventloom {

namespace {

/// Counts the hits in a range of epochs, and before it.
struct Counter {
  EpochRange epochs;
  bool inside = false;
  bool before = true;
  std::uint32_t hits = 0;
  std::uint32_t hits_before = 0;
  std::uint32_t payload_words = 0;

  void epoch(Epoch epoch) {
    inside = epochs.contains(epoch);
    before = epoch < epochs.begin;
  }
  void hit(std::uint32_t, std::uint32_t, std::span<const std::uint32_t> payload) {
    if (before) ++hits_before;
    if (!inside) return;
    ++hits;
    payload_words += static_cast<std::uint32_t>(payload.size());
  }
  void tag(std::uint32_t) {}
  void peak(const Peak&) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
};

/// Length in words of the item at `at`; the words must be valid.
std::size_t item_words(std::span<const std::uint32_t> words, std::size_t at) {
  const std::uint32_t value = marker_value(words[at]);
  switch (marker_type(words[at])) {
    case MarkerType::time: return (value >> 19) == kLongGroup ? std::size_t{2} + words[at + 1] : 1 + (value >> 19);
    case MarkerType::histogram: return std::size_t{1} + (value & 0x1fffU);
    case MarkerType::schedule: return 1 + std::size_t{value} * 3;
    default: return 1;
  }
}

/// Number of words before the marker of the first epoch at or after `end`. `first`: first epoch that the words may
/// open.
std::size_t words_before(std::span<const std::uint32_t> words, Epoch first, Epoch end) {
  Epoch next = first;
  for (std::size_t at = 0; at < words.size(); at += item_words(words, at)) {
    if (marker_type(words[at]) != MarkerType::epoch) continue;
    const Epoch epoch = unwrap_epoch(marker_value(words[at]), next);
    if (epoch >= end) return at;
    next = epoch + 1;
  }
  return words.size();
}

}  // namespace

std::optional<EpochBufferHeader> clip_stored(std::span<const std::byte> stored, EpochRange epochs,
                                             const StreamHeader& stream, std::vector<std::byte>& out) {
  auto header = read_epoch_buffer_header(stored);
  if (!header || header->stored_bytes() > stored.size()) return std::nullopt;
  const auto words = words_of(*header, stored);
  Counter count{epochs};
  const MarkerContext context{header->epochs(), stream.base.epoch_ticks, stream.payload};
  if (!words_intact(*header, words) || MarkerReader(words, context, count).read()) return std::nullopt;
  const std::size_t from = words_before(words, header->first_epoch, epochs.begin);
  const std::size_t to = words_before(words, header->first_epoch, epochs.end);
  const auto kept = words.subspan(from, to - from);
  const Epoch first = std::max(header->first_epoch, epochs.begin);
  header->n_epochs = static_cast<std::uint32_t>(std::min(header->epochs().end, epochs.end) - first);
  header->first_epoch = first;
  header->hits_before += count.hits_before;
  header->n_words = static_cast<std::uint32_t>(kept.size());
  header->n_hits = count.hits;
  header->n_payload_words = count.payload_words;
  if (count.hits != 0) append_stored(*header, kept, out);
  return header;
}

}  // namespace eventloom
