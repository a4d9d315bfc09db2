#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/event.hpp"

namespace eventloom {

/// An event of a BuiltSlice with its hits.
struct EventHits {
  std::size_t number = 0;  ///< index into the columns of the events
  Tick time = 0;
  Tick duration = 0;
  std::span<const Tick> times = {};
  std::span<const std::uint32_t> channels = {};
  std::span<const std::uint16_t> sources = {};
  std::span<const std::uint32_t> payload_words = {};  ///< words per hit; empty if the run has no payload
  std::span<const std::uint32_t> payload = {};
};

/// Iterates over the events of a slice in order. Events already passed may change.
class EventWalk {
 public:
  explicit EventWalk(const BuiltSlice& slice) : slice_(slice), n_(slice.events.size()) {}

  /// Returns false after the last event.
  bool next(EventHits& event) {
    if (number_ == n_) return false;
    const auto& [time, channel, source, payload_words, payload] = slice_.hits;
    const std::size_t n = slice_.events.n_hits[number_];
    event.number = number_;
    event.time = slice_.events.time[number_];
    event.duration = slice_.events.duration[number_];
    event.times = std::span(time).subspan(hit_, n);
    event.channels = std::span(channel).subspan(hit_, n);
    event.sources = std::span(source).subspan(hit_, n);
    if (!payload_words.empty()) {
      event.payload_words = std::span(payload_words).subspan(hit_, n);
      std::size_t words = 0;
      for (const auto of_hit : event.payload_words) words += of_hit;
      event.payload = std::span(payload).subspan(word_, words);
      word_ += words;
    }
    hit_ += n;
    ++number_;
    return true;
  }

 private:
  const BuiltSlice& slice_;
  std::size_t n_;
  std::size_t number_ = 0;
  std::size_t hit_ = 0;
  std::size_t word_ = 0;
};

}  // namespace eventloom
