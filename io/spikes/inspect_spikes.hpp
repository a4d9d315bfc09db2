#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of a spike file, see formats/spikes.hpp: file, kind, damaged, file_bytes, header (version, tick_ps,
/// channel_base), the counts of the reader (packets, sequence_gaps, ...), hits, channels, first and last time and
/// channel, problems, and the first `n_events` spikes as first_events. By default, times are in the ticks of the file;
/// channels include `label=`. Throws UserError like open_spikes().
Json inspect_spikes(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
