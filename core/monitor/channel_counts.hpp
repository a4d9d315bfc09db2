#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/telemetry_wire.hpp"

namespace eventloom {

/// Hits by source and channel, in bounded memory for any channels: the first ones are counted individually, the
/// others of a source together. Cheap enough for every hit that is written. A value; not thread-safe.
class ChannelCounts {
 public:
  using Channel = std::pair<std::uint32_t, std::uint64_t>;  // number, hits
  struct OfSource {
    std::uint32_t source = 0;
    std::vector<Channel> channels;  ///< sorted by number
    std::uint64_t others = 0;       ///< hits on channels that are not listed
    friend bool operator==(const OfSource&, const OfSource&) = default;
  };
  /// Maximum numbers of channels counted individually.
  struct Limits {
    std::size_t of_source = 1024;
    std::size_t of_all = 65536;
  };

  ChannelCounts() : ChannelCounts(Limits{}) {}
  explicit ChannelCounts(Limits limits);

  /// Counts one hit per element; both have the same size.
  void add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);
  void add(const ChannelRow& row);

  /// Removes and returns at most `most` of the rows that have hits; the next call continues after them.
  [[nodiscard]] std::vector<ChannelRow> take(std::size_t most);

  /// All rows; the row of a source's other channels has ChannelRow::kOthers as its channel.
  [[nodiscard]] std::vector<ChannelRow> rows() const;
  /// Hits of each source, up to the last source with hits.
  [[nodiscard]] std::vector<std::uint64_t> of_sources() const;
  /// Each source that has rows, in ascending order, with at most `most` of its channels: those with the most hits.
  [[nodiscard]] std::vector<OfSource> busiest(std::size_t most) const;

 private:
  [[nodiscard]] std::size_t first_slot(std::uint32_t source, std::uint32_t channel) const;
  [[nodiscard]] std::uint32_t row_of(std::uint32_t source, std::uint32_t channel);
  [[nodiscard]] std::uint32_t add_row(std::uint32_t source, std::uint32_t channel);
  void insert(std::uint32_t row);
  void gather();

  Limits limits_;
  std::uint64_t secret_;  ///< prevents inputs from choosing channels that share a slot
  std::vector<ChannelRow> rows_;
  std::vector<std::uint32_t> slots_;  ///< a hash table: number of a row, plus 1; 0: empty. At most a quarter is used
  /// Hits not yet in the rows: one place per value of the low bits of the channel, which spares most hits the hash.
  std::vector<ChannelRow> recent_;
  std::vector<std::size_t> channels_;  ///< number of channels with rows, by source
  std::size_t n_channels_ = 0;
  std::size_t next_ = 0;  ///< row with which take() begins
};

}  // namespace eventloom
