#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"

/// Batches of events, for a filter command and for replies: see README.md.
namespace eventloom {

/// Properties that all events of a stream share.
struct EventBatchFormat {
  std::uint64_t tick_ps = 0;  ///< 0: times are event numbers
  std::uint32_t n_sources = 0;
  bool with_payload = false;
  /// The value of a hit, given its source, channel and payload; empty: batches have no values.
  std::function<double(std::uint16_t, std::uint32_t, std::span<const std::uint32_t>)> value_of = {};
};

/// Bit in the flags of an event in a batch, besides the EventFlag bits: another slice owns the event, and its writer
/// asks about it, too.
inline constexpr std::uint32_t kAskedElsewhere = 1U << 31;

/// Encodes the beginning of a stream.
std::string event_batch_header(const EventBatchFormat& format);

/// The place of an event in the columns of its slice.
struct PlaceInSlice {
  std::size_t event = 0;
  std::size_t first_hit = 0;
  std::size_t n_hits = 0;  ///< may be less than the event has: the batch then holds its first hits only
  std::size_t first_word = 0;
  std::size_t n_words = 0;  ///< payload of these hits
};

/// Returns the size of a batch of one event.
std::size_t event_batch_bytes(const EventBatchFormat& format, std::size_t n_hits, std::size_t n_words);

/// Encodes events of a slice as a batch. Reuses its memory: results are valid until the next call.
class EventBatchEncoder {
 public:
  explicit EventBatchEncoder(EventBatchFormat format) : format_(std::move(format)) {}
  /// The events whose `asked` is 1.
  std::span<const std::byte> encode(const BuiltSlice& slice, std::size_t kind, std::span<const std::uint8_t> asked);
  /// One event.
  std::span<const std::byte> encode(const BuiltSlice& slice, std::size_t kind, const PlaceInSlice& event);

 private:
  EventBatchFormat format_;
  std::vector<std::byte> bytes_;
};

}  // namespace eventloom
