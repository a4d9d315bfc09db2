#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/value_column.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A dataset of channels: whole numbers, which may be stored as floating-point ones. Ids of more than 28 bits become
/// channels by a table.
class ChannelColumn {
 public:
  /// The key `channels` of `uri` names a table of ids that become channels. Throws UserError when it cannot be read.
  ChannelColumn(const SourceUri& uri, ColumnReader column) : values_(std::move(column)), ids_(ChannelIds::of(uri)) {}

  [[nodiscard]] const ColumnReader& column() const { return values_.column(); }

  /// Appends the channels of the rows [from, from + n). Marks those without one as lost; a number that is no channel is
  /// a bad row. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint32_t>& out, LostRows& lost);

 private:
  ValueColumn values_;
  ChannelIds ids_;
};

}  // namespace eventloom
