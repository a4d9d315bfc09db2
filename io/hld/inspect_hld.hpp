#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of an HLD file, see formats/hld.hpp: file, kind, damaged, file_bytes, format, byte_order (first event),
/// header (run, begin, end), events (these and all other counts exclude the events that open or close runs),
/// run_events, first_number and last_number (as in the file), the counts of EventNumbers, subevents, empty_events,
/// padded_subevents, events and subevents with an error bit, triggers (events by type), ids (subevents by hexadecimal
/// id), orders (by id and byte order), problems, and the first `n_events` complete events as first_events. The key
/// `tdc` adds tdc_hits, tdcs (hits by address) and tdc_channels; time=tdc adds first_time and last_time, in ticks of
/// `tick_ps` (default: 1 ns).
///
/// Reads the whole file. Throws UserError when a key of the URI is invalid or the file is not an HLD file.
Json inspect_hld(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
