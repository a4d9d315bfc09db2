#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/epoch_buffer.hpp"
#include "formats/event.hpp"
#include "formats/marker_counts.hpp"
#include "formats/marker_reader.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Why the hits of an epoch buffer cannot be used.
struct BufferDefect {
  DropCause cause = DropCause::corrupt;
  std::uint64_t offset = 0;  ///< offset in the stream, bytes
  const char* reason = "";
};

/// Calls take(time, channel, payload words) for each hit of a stored epoch buffer, in the order of its words, and adds
/// its other markers to `left_out`. If it returns a defect, the hits taken so far must be discarded.
template <class Take>
std::optional<BufferDefect> read_stored_hits(const EpochBufferHeader& header, std::span<const std::byte> stored,
                                             const StreamHeader& stream, MarkerCounts& left_out, Take take) {
  struct Visitor : CountsMarkers {
    Visitor(Take& to, std::uint32_t ticks) : take(to), epoch_ticks(ticks) {}

    Take& take;
    Tick epoch_begin = 0;
    std::uint32_t epoch_ticks = 0;
    std::uint32_t hits = 0;

    void epoch(Epoch epoch) { epoch_begin = tick_of_epoch(epoch, epoch_ticks); }
    void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t> payload) {
      ++hits;
      take(epoch_begin + Tick(tick), channel, payload);
    }
  };
  const auto words = words_of(header, stored);
  if (header.is_loss()) {
    return BufferDefect{DropCause::lost, header.stream_offset, "it was lost before it was recorded"};
  }
  if (!words_intact(header, words)) {
    return BufferDefect{DropCause::corrupt, header.stream_offset, "the checksum of an epoch buffer is wrong"};
  }
  Visitor visitor(take, stream.base.epoch_ticks);
  const MarkerContext context{header.epochs(), stream.base.epoch_ticks, stream.payload};
  if (const auto error = MarkerReader(words, context, visitor).read()) {
    const auto offset = header.stream_offset + sizeof header + sizeof(std::uint32_t) * error->word;
    return BufferDefect{DropCause::corrupt, offset, error->reason};
  }
  if (visitor.hits == header.n_hits) {
    left_out.add(visitor.others);
    return std::nullopt;
  }
  return BufferDefect{DropCause::corrupt, header.stream_offset,
                      "the number of hits in an epoch buffer differs from its header"};
}

}  // namespace eventloom
