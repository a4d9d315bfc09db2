#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// A defect of a stream file, for the message.
struct StreamProblem {
  std::uint64_t offset = 0;
  std::string text;
};

/// What is in a stream file without an index that can be trusted.
struct StreamScan {
  std::vector<IndexEntry> entries;  ///< whole buffers in rising epochs
  std::vector<Damage> damage;       ///< in rising first epochs; reaches to the greatest Epoch where the file breaks off
  std::vector<StreamProblem> problems;
  std::uint64_t hits = 0;  ///< in the buffers and lost, as far as headers tell
  std::uint64_t anomalies = 0;
};

/// Steps from buffer to buffer from `begin` on. Buffers are known by their number in the stream:
/// one that comes again is a duplicate, one that comes late is out of order, bytes that are no
/// buffer are skipped up to the next header that proves itself. Hits lost in between are the
/// difference of the headers' counts. A buffer of epochs that have no ticks in `base` is damage of
/// the stretch that it stands in.
StreamScan scan_stream(std::span<const std::byte> file, std::uint64_t begin, const TimeBase& base);

}  // namespace eventloom
