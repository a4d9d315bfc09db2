#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Where a table has what; columns count from 1.
struct CsvColumns {
  std::size_t time = 0;
  std::size_t channel = 0;
  std::vector<std::size_t> payload;
  std::string unit;                 ///< that the name of the time's column says; empty: none
  std::uint64_t lines_before = 0;   ///< the first row
  std::vector<std::string> unread;  ///< the other columns, by name or number

  /// The last that is used.
  [[nodiscard]] std::size_t last() const;
};

/// By the keys `time`, `channel`, `payload` and `skip`. A column that is named, or not given, is looked for in the
/// header: the first line after the skipped ones that is neither empty nor a comment, or the comment above it when
/// that has as many columns. Names that need not be given, whatever their case:
///
///   time     time, t, timestamp, timetag or toa; a unit may follow: time_ns, t [us], timestamp(ps)
///   channel  channel, ch, chan, detector or id
///   payload  payload, energy, adc, amplitude, charge and tot, all there are, when none of the three is given
///
/// The order of the names decides where several are used, but for times: of those there must be one column. Throws
/// UserError when a column is not found, when two have the same name, or the file cannot be opened.
CsvColumns find_columns(const SourceUri& uri);

}  // namespace eventloom
