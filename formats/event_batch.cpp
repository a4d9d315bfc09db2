#include "formats/event_batch.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace eventloom {

namespace {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kBatchHeaderBytes = 32;
constexpr std::array<char, 8> kMagic = {'E', 'L', 'F', 'I', 'L', 'T', '0', '1'};
enum BatchFlag : std::uint32_t { kHasPayload = 1, kHasValues = 2 };

/// A range of events, or of what belongs to them, that is sent.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Positions in the columns of the events of a batch, with neighbours joined.
struct BatchPlaces {
  std::vector<Stretch> events;
  std::vector<Stretch> hits;
  std::vector<Stretch> words;
  std::vector<std::size_t> first_words;  ///< position of the first word of each stretch of hits
  std::size_t n_events = 0;
  std::size_t n_hits = 0;
  std::size_t n_words = 0;
  std::optional<std::size_t> hits_of_only;  ///< number of hits of the only event, where it may be cut
};

void add(std::vector<Stretch>& to, std::size_t& total, std::size_t begin, std::size_t end) {
  total += end - begin;
  if (!to.empty() && to.back().end == begin) {
    to.back().end = end;
  } else {
    to.push_back({begin, end});
  }
}

BatchPlaces find_asked(const BuiltSlice& slice, std::span<const std::uint8_t> asked) {
  BatchPlaces found;
  std::size_t hit = 0;
  std::size_t word = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::size_t first_hit = hit;
    const std::size_t first_word = word;
    hit += slice.events.n_hits[i];
    if (!slice.hits.payload_words.empty()) {
      for (std::size_t h = first_hit; h < hit; ++h) word += slice.hits.payload_words[h];
    }
    if (asked[i] == 0) continue;
    add(found.events, found.n_events, i, i + 1);
    if (found.hits.empty() || found.hits.back().end != first_hit) found.first_words.push_back(first_word);
    add(found.hits, found.n_hits, first_hit, hit);
    add(found.words, found.n_words, first_word, word);
  }
  return found;
}

template <class T>
std::byte* put(std::byte* to, const std::vector<T>& column, std::span<const Stretch> stretches) {
  static_assert(std::is_trivially_copyable_v<T>);
  for (const auto& [begin, end] : stretches) {
    const std::size_t bytes = (end - begin) * sizeof(T);
    if (bytes != 0) std::memcpy(to, column.data() + begin, bytes);
    to += bytes;
  }
  return to;
}

template <class T>
std::byte* put_one(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::byte* put_flags(std::byte* to, const BuiltSlice& slice, std::span<const Stretch> stretches) {
  for (const auto& [begin, end] : stretches) {
    for (std::size_t i = begin; i < end; ++i) {
      to = put_one(to, slice.events.flags[i] | (slice.events.owned[i] == 0 ? kAskedElsewhere : 0U));
    }
  }
  return to;
}

std::byte* put_values(std::byte* to, const BuiltSlice& slice, const BatchPlaces& asked,
                      const EventBatchFormat& format) {
  const auto& hits = slice.hits;
  for (std::size_t s = 0; s < asked.hits.size(); ++s) {
    std::size_t word = asked.first_words[s];
    for (std::size_t h = asked.hits[s].begin; h < asked.hits[s].end; ++h) {
      const std::size_t n = hits.payload_words.empty() ? 0 : hits.payload_words[h];
      to = put_one(to, format.value_of(hits.source[h], hits.channel[h], std::span(hits.payload).subspan(word, n)));
      word += n;
    }
  }
  return to;
}

std::size_t batch_bytes(const EventBatchFormat& format, std::size_t n_events, std::size_t n_hits, std::size_t n_words) {
  const std::size_t event_bytes = 2 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);
  const std::size_t hit_bytes = sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(std::uint16_t) +
                                (format.value_of ? sizeof(double) : 0) +
                                (format.with_payload ? sizeof(std::uint32_t) : 0);
  return whole_words(kBatchHeaderBytes + n_events * event_bytes + n_hits * hit_bytes + n_words * sizeof(std::uint32_t));
}

void encode_batch(const BuiltSlice& slice, std::size_t kind, const BatchPlaces& places, const EventBatchFormat& format,
                  std::vector<std::byte>& bytes) {
  const std::size_t words = format.with_payload ? places.n_words : 0;
  bytes.assign(batch_bytes(format, places.n_events, places.n_hits, words), std::byte{0});
  auto* to = bytes.data();
  to = put_one(to, std::uint64_t{bytes.size()});
  for (const std::size_t n : {places.n_events, places.n_hits, words, kind}) {
    to = put_one(to, static_cast<std::uint32_t>(n));
  }
  to = put_one(to, slice.ledger.slice);
  to = put(to, slice.events.time, places.events);
  to = put(to, slice.events.duration, places.events);
  to = put(to, slice.hits.time, places.hits);
  if (format.value_of) to = put_values(to, slice, places, format);
  to = places.hits_of_only ? put_one(to, static_cast<std::uint32_t>(*places.hits_of_only))
                           : put(to, slice.events.n_hits, places.events);
  to = put_flags(to, slice, places.events);
  to = put(to, slice.hits.channel, places.hits);
  if (format.with_payload) {
    to = put(to, slice.hits.payload_words, places.hits);
    to = put(to, slice.hits.payload, places.words);
  }
  put(to, slice.hits.source, places.hits);
}

}  // namespace

std::string event_batch_header(const EventBatchFormat& format) {
  std::string header(kHeaderBytes, '\0');
  auto* to = reinterpret_cast<std::byte*>(header.data());
  to = put_one(to, kMagic);
  to = put_one(to, format.tick_ps);
  to = put_one(to, (format.with_payload ? kHasPayload : 0U) | (format.value_of ? kHasValues : 0U));
  put_one(to, format.n_sources);
  return header;
}

std::size_t event_batch_bytes(const EventBatchFormat& format, std::size_t n_hits, std::size_t n_words) {
  return batch_bytes(format, 1, n_hits, n_words);
}

std::span<const std::byte> EventBatchEncoder::encode(const BuiltSlice& slice, std::size_t kind,
                                                     std::span<const std::uint8_t> asked) {
  encode_batch(slice, kind, find_asked(slice, asked), format_, bytes_);
  return bytes_;
}

std::span<const std::byte> EventBatchEncoder::encode(const BuiltSlice& slice, std::size_t kind,
                                                     const PlaceInSlice& event) {
  BatchPlaces places;
  add(places.events, places.n_events, event.event, event.event + 1);
  add(places.hits, places.n_hits, event.first_hit, event.first_hit + event.n_hits);
  add(places.words, places.n_words, event.first_word, event.first_word + event.n_words);
  places.first_words.push_back(event.first_word);
  places.hits_of_only = event.n_hits;
  encode_batch(slice, kind, places, format_, bytes_);
  return bytes_;
}

}  // namespace eventloom
