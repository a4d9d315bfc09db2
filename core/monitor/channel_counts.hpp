#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/telemetry_wire.hpp"

namespace eventloom {

/// Hits by source and channel, in bounded memory whatever the channels are: the first ones are counted one by one, all
/// others of a source together. Cheap enough for every hit that is written. A value; one thread at a time.
class ChannelCounts {
 public:
  using Channel = std::pair<std::uint32_t, std::uint64_t>;  // number, hits
  struct OfSource {
    std::uint32_t source = 0;
    std::vector<Channel> channels;  ///< in rising order of their numbers
    std::uint64_t others = 0;       ///< hits on channels that are not listed
    friend bool operator==(const OfSource&, const OfSource&) = default;
  };
  /// Channels that are counted one by one.
  struct Limits {
    std::size_t of_source = 1024;
    std::size_t of_all = 65536;
  };

  ChannelCounts() : ChannelCounts(Limits{}) {}
  explicit ChannelCounts(Limits limits);

  /// As many of each.
  void add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);
  void add(const ChannelRow& row);

  /// At most `most` of the rows that have hits, which they lose; the next call continues after them.
  [[nodiscard]] std::vector<ChannelRow> take(std::size_t most);

  /// That of a source's others has ChannelRow::kOthers for its channel.
  [[nodiscard]] std::vector<ChannelRow> rows() const;
  /// Hits of each source up to the last that has any.
  [[nodiscard]] std::vector<std::uint64_t> of_sources() const;
  /// Each source that has rows, in rising order, with at most `most` of its channels: those that have most hits.
  [[nodiscard]] std::vector<OfSource> busiest(std::size_t most) const;

 private:
  [[nodiscard]] std::size_t first_slot(std::uint32_t source, std::uint32_t channel) const;
  [[nodiscard]] std::uint32_t row_of(std::uint32_t source, std::uint32_t channel);
  [[nodiscard]] std::uint32_t add_row(std::uint32_t source, std::uint32_t channel);
  void insert(std::uint32_t row);
  void gather();

  Limits limits_;
  std::uint64_t secret_;  ///< so that no input can choose channels that share a slot
  std::vector<ChannelRow> rows_;
  std::vector<std::uint32_t> slots_;  ///< a hash table: number of a row, plus 1; 0: empty. At most a quarter is used
  /// Hits not yet in the rows: a place for each of the channels that have the same low bits, to spare most hits the
  /// hash.
  std::vector<ChannelRow> recent_;
  std::vector<std::size_t> channels_;  ///< that have rows, by source
  std::size_t n_channels_ = 0;
  std::size_t next_ = 0;  ///< row that take() begins with
};

}  // namespace eventloom
