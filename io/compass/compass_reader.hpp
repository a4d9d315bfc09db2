#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/files/followed_files.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// compass:PATH[?header=0xCAEx|old|BOARD;...][&drop=LIST][&round=down|nearest][&reorder=N]: one hit per record of a
/// binary file (compass_record.hpp) or a text file (compass_text.hpp); the same records give the same hits.
///
/// - Channel: board as subsystem, then channel. Time: rounded to the nearest tick, or down.
/// - Payload: energy, flags; then the energy of the short gate and the calibrated energy, if the file has them. A
///   calibrated energy is rounded to a whole number, and is the first word if there is no other energy.
/// - header: the two bytes or the first line that a file lacks, like later files of a split run; old: the format before
///   version 2.
/// - drop: records that yield no hits, see compass_flags.hpp; they are counted (flagged). An alarm of a board is an
///   anomaly.
///
/// A record whose board, channel, time or calibrated energy is impossible, and a line that is not a record, are losses
/// of one hit each. If a record extends beyond the end of the file, the last line is cut, the file has grown since it
/// was opened, or the disk fails, the stream breaks off.
///
/// Throws UserError when a key is invalid, or the file cannot be opened or does not begin with the header.
/// `followed`: the files that this one belongs to, null if it is not followed.
std::unique_ptr<HitReader> open_compass(const SourceUri& uri, SourceId id, const TimeBase& base,
                                        Followed followed = nullptr);

/// Whether a file that grows shows whether it has a header, and has all of it.
bool can_open_compass(const std::string& path);

/// Whether a file that begins with `head` is a CoMPASS file of either form.
bool begins_compass_file(std::span<const std::byte> head);

}  // namespace eventloom
