#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/recorded/payload_columns.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The columns of a table that are used, counted from 1.
struct CsvColumns {
  std::size_t time = 0;
  std::size_t channel = 0;
  std::vector<std::size_t> payload;
  std::vector<PayloadKey> payload_keys;  ///< their names and stated kinds
  std::string unit;                      ///< unit in the name of the time column; empty: none
  std::uint64_t lines_before = 0;        ///< number of lines before the first row
  std::vector<std::string> unread;       ///< the other columns, by name or number

  /// The last column used.
  [[nodiscard]] std::size_t last() const;
};

/// Finds the columns according to the keys `time`, `channel`, `payload` and `skip`. Columns given by name or not at all
/// are searched for in the header: the first line after the skipped ones that is neither empty nor a comment, or the
/// last comment before it if that has as many columns. Columns with these names, in any case, need not be given:
///
///   time     time, t, timestamp, timetag or toa; a unit may follow: time_ns, t [us], timestamp(ps)
///   channel  channel, ch, chan, detector or id
///   payload  payload, energy, adc, amplitude, charge and tot: all that exist, if none of the three keys is given
///
/// If several names occur, the first in this list is used, except for times, where only one column may match. Throws
/// UserError when a column is not found or ambiguous, or the file cannot be opened.
CsvColumns find_columns(const SourceUri& uri);

}  // namespace eventloom
