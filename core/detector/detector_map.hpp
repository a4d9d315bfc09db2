#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/units.hpp"

namespace eventloom {

/// A selection of channels and sources. Sources are given as the user names them: they are not resolved yet.
struct ChannelSelection {
  std::string source;     ///< number, range of numbers, name or glob; empty: all
  std::uint32_t low = 0;  ///< channels, both ends included
  std::uint32_t high = 0xfffffff;

  friend bool operator==(const ChannelSelection&, const ChannelSelection&) = default;
};

/// A signed duration, exactly as written.
struct OffsetText {
  bool negative = false;
  Decimal size;
  std::uint64_t unit_ps = 0;  ///< 0: ticks
};

/// A row of a map; columns without a value are empty.
struct DetectorRow {
  std::uint64_t number = 0;  ///< counted from 1, without the header
  std::uint64_t line = 0;    ///< line of the file, counted from 1
  ChannelSelection channels;
  std::optional<OffsetText> offset;
  std::optional<OffsetText> dead_time;  ///< not negative
  std::optional<bool> mask;
  std::optional<double> min_payload;
  std::optional<double> max_payload;
  std::optional<double> gain;
  std::optional<double> zero;
  std::optional<std::string> unit;
  std::optional<std::vector<std::string>> groups;
  std::optional<std::string> name;
  std::optional<double> x;
  std::optional<double> y;
  std::optional<double> z;
};

/// A table of the properties of a detector's channels: CSV with a header. Later rows override earlier ones, column by
/// column.
struct DetectorMap {
  std::string file;  ///< name, for messages
  std::string text;
  std::vector<DetectorRow> rows;

  /// Returns "MAP.csv: row 3 (line 5)".
  [[nodiscard]] std::string place(const DetectorRow& row) const;
};

/// Fields may be quoted (RFC 4180); empty lines and lines that begin with '#' are skipped. Throws UserError that names
/// the file, the row, the column and what was expected.
DetectorMap parse_detector_map(std::string text, const std::string& file);

/// An option such as "PMT=5us", or "5us" for all channels: the dead time of the channels of a group.
struct DeadTimeOption {
  std::string text;
  std::string group;  ///< empty: all channels
  std::string length;
};
/// Throws UserError.
DeadTimeOption parse_dead_time_option(const std::string& text);

/// An option such as "A=source:0-3", "A=source:top_*" or "A=channel:0x1200-0x12ff".
struct GroupOption {
  std::string text;
  std::string name;
  ChannelSelection channels;
};
/// Throws UserError.
GroupOption parse_group_option(const std::string& text);

}  // namespace eventloom
