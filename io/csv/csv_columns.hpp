#pragma once

#include "io/csv/used_columns.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Finds the columns according to the keys `time`, `channel`, `payload` and `skip`. Columns given by name or not at all
/// are searched for in the header: the first line after the skipped ones that is neither empty nor a comment, or the
/// last comment before it if that has as many columns. Columns with these names, in any case, need not be given:
///
///   time     time, t, timestamp, timetag or toa; a unit may follow: time_ns, t [us], timestamp(ps)
///   channel  channel, ch, chan, detector or id
///   payload  payload, energy, adc, amplitude, charge and tot: all that exist, if none of the three keys is given
///
/// The key `fixed-channel` takes the place of the channel column. If several names occur, the first in this list is
/// used, except for times, where only one column may match. Throws UserError when a column is not found or ambiguous,
/// or the file cannot be opened.
CsvColumns find_columns(const SourceUri& uri);

}  // namespace eventloom
