#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/units.hpp"

namespace eventloom {

/// Which channels of which sources. Sources are named as the user does: nothing is known of them yet.
struct ChannelSelection {
  std::string source;     ///< number, range of numbers, name or glob; empty: all
  std::uint32_t low = 0;  ///< channels, both ends included
  std::uint32_t high = 0xfffffff;

  friend bool operator==(const ChannelSelection&, const ChannelSelection&) = default;
};

/// A signed length of time, exactly as written.
struct OffsetText {
  bool negative = false;
  Decimal size;
  std::uint64_t unit_ps = 0;  ///< 0: ticks
};

/// A row of a map; what it does not say is empty.
struct DetectorRow {
  std::uint64_t number = 0;  ///< from 1, the header not counted
  std::uint64_t line = 0;    ///< of the file, from 1
  ChannelSelection channels;
  std::optional<OffsetText> offset;
  std::optional<bool> mask;
  std::optional<std::uint32_t> min_payload;
  std::optional<std::uint32_t> max_payload;
  std::optional<std::vector<std::string>> groups;
  std::optional<std::string> name;
  std::optional<double> x;
  std::optional<double> y;
  std::optional<double> z;
};

/// A table of what is known of the channels of a detector: CSV with a header. Later rows overrule earlier ones, column
/// by column.
struct DetectorMap {
  std::string file;  ///< for messages
  std::string text;
  std::vector<DetectorRow> rows;

  /// "MAP.csv: row 3 (line 5)".
  [[nodiscard]] std::string place(const DetectorRow& row) const;
};

/// Fields may be quoted (RFC 4180); empty lines and those that begin with '#' are skipped. Throws UserError that names
/// the file, the row, the column and what was expected.
DetectorMap parse_detector_map(std::string text, const std::string& file);

/// "A=source:0-3", "A=source:top_*" or "A=channel:0x1200-0x12ff".
struct GroupOption {
  std::string text;
  std::string name;
  ChannelSelection channels;
};
/// Throws UserError.
GroupOption parse_group_option(const std::string& text);

}  // namespace eventloom
