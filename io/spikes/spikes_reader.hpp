#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// spikes:PATH[?label=BASE][&round=down|nearest][&reorder=N], see formats/spikes.hpp.
///
/// A spike is a hit without payload. Its channel is label + BASE, by default the base in the file; its time is
/// converted exactly from the file's tick to that of `base`, or rounded on request.
///
/// Whole packets count; damaged ones are dropped and become a loss:
/// - wrong checksum of the entries: the spikes stated in the header, with a hole;
/// - damaged header: a hole up to the next intact header, or the end;
/// - missing sequence number: a hole; a repeated one: its spikes, as duplicate; one that comes later than its
/// successors: its spikes, as out_of_order;
/// - the end inside a packet, bytes appended since the file was opened, a failing disk: breaks off.
///
/// Throws UserError when the file cannot be opened, its header is damaged or a key is wrong; read() does when a time is
/// not a whole number of ticks and must not be rounded.
std::unique_ptr<HitReader> open_spikes(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
