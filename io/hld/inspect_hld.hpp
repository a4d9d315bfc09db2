#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of an HLD file, see formats/hld.hpp: file, kind, damaged, file_bytes, format, byte_order (of the first
/// event), header (run, begin and end of it), events (all counts without those that mark begin and end of runs),
/// run_events, first_number and last_number (as in the file), the counts of EventNumbers, subevents, empty_events,
/// padded_subevents, events with an error bit, triggers (events by type), ids (subevents by id, hexadecimal), orders
/// (by id and byte order), with the key `tdc` also tdc_hits and tdcs (hits by address), with time=tdc first_time and
/// last_time in ns, problems, and the first `n_events` complete events as first_events.
///
/// Reads the whole file. Throws UserError when a key of the URI is invalid or the file is not an HLD file.
nlohmann::ordered_json inspect_hld(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
