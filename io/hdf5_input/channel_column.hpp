#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/missing_values.hpp"
#include "io/hdf5_input/value_scale.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A dataset of channels: whole numbers, which may be stored as floating-point ones. Ids of more than 28 bits become
/// channels by a table.
class ChannelColumn {
 public:
  /// The key `channels` of `uri` names a table of ids that become channels. Throws UserError when it cannot be read.
  ChannelColumn(const SourceUri& uri, ColumnReader column);

  [[nodiscard]] const ColumnReader& column() const { return column_; }

  /// Appends the channels of the rows [from, from + n). Marks those without one as lost; a number that is no channel is
  /// a bad row. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost);

 private:
  [[nodiscard]] std::optional<std::uint32_t> channel_of(std::uint64_t number) const;
  [[nodiscard]] std::optional<std::uint32_t> channel_of(double number) const;
  void read_integers(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost);
  void read_reals(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost);
  void refuse(std::uint64_t from, std::size_t i, const std::string& number, LostRows& lost) const;

  ColumnReader column_;
  MissingValues missing_values_;
  ValueScale scale_;
  std::optional<ChannelIds> ids_;
  std::vector<std::uint64_t> integers_;
  std::vector<double> reals_;
  std::vector<bool> missing_;
};

}  // namespace eventloom
