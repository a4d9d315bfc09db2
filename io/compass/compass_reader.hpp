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

/// compass:PATH[?header=0xCAEx|old][&round=down|nearest][&reorder=N]: a hit per record, see compass_record.hpp.
///
/// - channel: board as subsystem, channel; time: to the nearest tick, or rounded down.
/// - payload: energy, flags; then the energy of the short gate, and the calibrated energy, where the file has them. A
/// calibrated energy, which is the first word when there is no other, is rounded to a whole number.
/// - header: what the two bytes would say in a file that lacks them, as later files of a split run do; old: the format
/// before version 2.
///
/// A record whose board, time or calibrated energy is impossible is a loss of one hit. Where a record reaches beyond
/// the end of the file, the file has grown since it was opened, or the disk fails, the stream breaks off.
///
/// Throws UserError when a key is invalid, or the file cannot be opened or does not begin with the header.
std::unique_ptr<HitReader> open_compass(const SourceUri& uri, SourceId id, const TimeBase& base);

/// As open_compass(), with ticks of 1 ps.
nlohmann::ordered_json inspect_compass(const SourceUri& uri, std::uint64_t n_events,
                                       std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
