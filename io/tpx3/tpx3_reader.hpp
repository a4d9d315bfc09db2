#pragma once

#include <cstdint>
#include <memory>
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
/// - Pixels: the channel is the chip as subsystem, then 256 * y + x; the payload is the ToT in 25 ns.
/// - TDC edges: the channel is subsystem 63, then 4 * chip + 0, 1 (TDC1 rises, falls), 2, 3 (TDC2); the payload is the
///   trigger count.
/// - Times are rounded to the nearest tick and extended by Tpx3Clock. A global time determines how often the pixels'
///   time had started again before the file, or else the key `turns`, or else the first TDC edge.
/// - Several files belong to one run, whose clock continues from each to the next.
///
/// Words that are not packets, edges with an impossible time, and packets with a time far from their neighbours'
/// (out_of_step) are losses of one hit each. Data between the end of a chunk and the beginning of the next are a loss
/// with a hole, counted by their words of pixels and TDCs. If a file ends inside a chunk, has grown since it was
/// opened, or the disk fails, there is a hole up to the next file, or the stream breaks off. Hits before tick 0 are a
/// loss (untimed). A guessed time is an anomaly.
///
/// Throws UserError when a key is invalid, or a file cannot be opened or does not begin with a chunk.
std::unique_ptr<HitReader> open_tpx3(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                     const TimeBase& base);

}  // namespace eventloom
