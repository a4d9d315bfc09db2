#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Summary of a finished stream file.
struct StreamSummary {
  std::uint64_t buffers = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
  Tick first_tick = 0;
  Tick last_tick = 0;
};

/// The bytes of one `.epochs` file, in order: begin(), place() for each epoch buffer, end(). Assigns numbers and
/// offsets to the buffers, and keeps the index. Writes no file.
class StreamLayout {
 public:
  explicit StreamLayout(StreamHeader header) : header_(std::move(header)) {}

  /// Appends the header to `out`.
  void begin(std::vector<std::byte>& out);
  /// Appends whole stored epoch buffers in ascending epochs, with their headers updated to their offset in this file.
  /// Throws std::invalid_argument for anything else.
  void place(std::span<const std::byte> buffers, std::vector<std::byte>& out);
  /// Appends index and trailer.
  void end(std::vector<std::byte>& out);

  /// Bytes up to now.
  [[nodiscard]] std::uint64_t bytes() const { return offset_; }
  /// Bytes of index and trailer, if `more` buffers follow first.
  [[nodiscard]] std::uint64_t bytes_of_end(std::uint64_t more) const {
    return (index_.size() + more) * sizeof(IndexEntry) + sizeof(StreamFileTrailer);
  }
  [[nodiscard]] std::uint64_t buffers() const { return index_.size(); }
  [[nodiscard]] std::uint64_t hits() const { return trailer_.n_hits; }
  /// One past the last epoch; 0 without buffers.
  [[nodiscard]] Epoch end_epoch() const { return index_.empty() ? Epoch(0) : index_.back().epochs().end; }
  /// Complete after end().
  [[nodiscard]] StreamSummary summary() const;

 private:
  void put(std::span<const std::byte> bytes, std::vector<std::byte>& out);

  StreamHeader header_;
  std::vector<IndexEntry> index_;
  EpochBufferHeader last_header_;
  std::vector<std::uint32_t> last_;  ///< words of the last buffer that has any
  StreamFileTrailer trailer_;
  std::uint64_t offset_ = 0;
};

}  // namespace eventloom
