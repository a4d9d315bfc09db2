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

/// Contents of a stream file without a trustworthy index.
struct StreamScan {
  std::vector<IndexEntry> entries;  ///< whole buffers in rising epochs
  std::vector<Damage> damage;       ///< in rising first epochs; reaches to the greatest Epoch where the file breaks off
  std::vector<StreamProblem> problems;
  std::uint64_t hits = 0;  ///< in the buffers and lost, as far as headers say
  std::uint64_t anomalies = 0;
};

/// Steps from buffer to buffer from `begin` on. Buffers are identified by their sequence number: a repeated one is a
/// duplicate, a late one is out of order, and bytes that are no buffer are skipped up to the next intact header. The
/// hits lost in between follow from the counts in the headers. A buffer whose epochs have no ticks in `base` is damage
/// of the stretch it lies in.
StreamScan scan_stream(std::span<const std::byte> file, std::uint64_t begin, const TimeBase& base);

}  // namespace eventloom
