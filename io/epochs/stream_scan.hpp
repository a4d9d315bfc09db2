#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// A defect of a stream file, for messages.
struct StreamProblem {
  std::uint64_t offset = 0;
  std::string text;
};

/// Contents of a stream file without a reliable index.
struct StreamScan {
  std::vector<IndexEntry> entries;  ///< whole buffers in ascending epochs
  std::vector<Damage> damage;       ///< ascending by first epoch; extends to the greatest Epoch if the file breaks off
  std::vector<StreamProblem> problems;
  std::uint64_t hits = 0;  ///< hits in buffers or lost, according to the headers
  std::uint64_t anomalies = 0;
};

/// Steps from buffer to buffer from `begin` on. Buffers are identified by their sequence number: a repeated one is a
/// duplicate, a late one is out of order, and bytes outside buffers are skipped up to the next intact header. The
/// number of hits lost in between follows from the counts in the headers. If the epochs of a buffer have no ticks in
/// `base`, it counts as damage between its neighbours.
StreamScan scan_stream(std::span<const std::byte> file, std::uint64_t begin, const TimeBase& base);

}  // namespace eventloom
