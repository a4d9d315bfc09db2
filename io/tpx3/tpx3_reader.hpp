#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// tpx3:PATH[?turns=N][&round=down|nearest][&reorder=N][&concat]: the pixels and TDC edges of Timepix3 detectors, see
/// tpx3_packet.hpp.
///
/// - Channel of a pixel: its chip as subsystem, then 256 * y + x; payload: ToT in 25 ns. Of a TDC edge: subsystem 63,
/// then 4 * chip + 0, 1 (TDC1 rises, falls), 2, 3 (TDC2); payload: the trigger count.
/// - Time: to the nearest tick, extended by Tpx3Clock; a global time, or else the first TDC edge, says how often the
/// pixels' time had started again before the file, or else the key `turns`.
/// - Several files are those of one run, whose clock goes on from each to the next.
///
/// Words that are no packets and edges with an impossible time are losses of one hit each, and so are packets with a
/// time far from those around them (out_of_step). What lies between the end of a chunk and the beginning of the next is
/// a loss with a hole, of as many hits as it has words of pixels and TDCs. Where a file ends inside a chunk, has grown
/// since it was opened, or the disk fails, there is a hole up to the next file, or the stream breaks off. Hits that
/// would come before tick 0 are a loss (untimed). A time that is guessed is an anomaly.
///
/// Throws UserError when a key is invalid, or a file cannot be opened or does not begin with a chunk.
std::unique_ptr<HitReader> open_tpx3(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                     const TimeBase& base);

/// As open_tpx3(), with ticks of 1 ps.
nlohmann::ordered_json inspect_tpx3(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
