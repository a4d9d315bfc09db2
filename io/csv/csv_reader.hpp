#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// csv:PATH[?time=COLUMN][&channel=COLUMN][&payload=COLUMN,...][&unit=ms][&origin=TIME][&channels=FILE][&skip=3]
///          [&round=down|nearest][&reorder=N]
///
/// Columns of a text file, by number or name: see csv_columns.hpp; their times: csv_time.hpp; channels with names:
/// channel_names.hpp, which the header's text lists. A hit before tick 0 is a loss (untimed).
///
/// Throws UserError when a key is wrong, or when the file cannot be opened or does not match the URI.
std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base);

/// What `inspect` shows of such a file: the columns that are used, and its hits, with `n_events` of them in full. The
/// times are in ps where the file's are, else in ns.
nlohmann::ordered_json inspect_csv(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
