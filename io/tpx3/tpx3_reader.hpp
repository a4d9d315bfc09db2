#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// tpx3:PATH[?round=down|nearest][&reorder=N]: the pixels and TDC edges of Timepix3 detectors, see tpx3_packet.hpp.
///
/// - Channel of a pixel: its chip as subsystem, then 256 * y + x; payload: ToT in 25 ns. Of a TDC edge: subsystem 63,
/// then 4 * chip + 0, 1 (TDC1 rises, falls), 2, 3 (TDC2); payload: the trigger count.
/// - Time: to the nearest tick, extended by Tpx3Clock; the global time of the file, if it has one among its first
/// packets, or else its first TDC edge says how often the pixels' time had started again before.
///
/// Words that are no packets and edges with an impossible time are losses of one hit each. What lies between the end of
/// a chunk and the beginning of the next is a loss with a hole, of as many hits as it has words of pixels and TDCs.
/// Where the file ends inside a chunk, has grown since it was opened, or the disk fails, the stream breaks off. Hits
/// that would come before tick 0 are a loss (untimed).
///
/// Throws UserError when a key is invalid, or the file cannot be opened or does not begin with a chunk.
std::unique_ptr<HitReader> open_tpx3(const SourceUri& uri, SourceId id, const TimeBase& base);

/// As open_tpx3(), with ticks of 1 ps.
nlohmann::ordered_json inspect_tpx3(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
