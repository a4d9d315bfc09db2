#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/files/followed_files.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// csv:PATH[?time=COLUMN][&channel=COLUMN][&payload=COLUMN,...][&unit=ms][&origin=TIME][&channels=FILE]
///          [&where=COLUMN==VALUE][&skip=3][&round=down|nearest][&reorder=N]
///
/// Reads columns of a text file. See csv_columns.hpp for the columns, csv_time.hpp for times, and channel_names.hpp for
/// channel names, which the header's text lists. A hit before tick 0 is a loss (untimed). A missing value is NaN in the
/// payload, and otherwise makes a bad line. Rows that `where` leaves out are counted (cut), see row_condition().
///
/// Throws UserError when a key is wrong, or when the file cannot be opened or does not match the URI.
/// `followed`: the files that this one belongs to, null if it is not followed. The rows present when it is opened
/// decide the kinds of the payload; words as channels then need `channels`.
std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base,
                                    Followed followed = nullptr);

/// Whether a table that grows has its header and a row.
bool can_open_csv(const SourceUri& uri);

}  // namespace eventloom
