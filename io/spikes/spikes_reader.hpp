#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// spikes:PATH[?label=BASE][&round=down|nearest][&reorder=N], see formats/spikes.hpp; with the keys of ClockTurns, the
/// beginnings of packets count a clock that turns.
///
/// A spike is a hit without payload. Its channel is its label + BASE, by default the base in the file. Its time is
/// converted exactly from the file's tick to that of `base`, or rounded on request.
///
/// Packets are accepted or dropped as a whole. Dropped packets become losses:
/// - wrong checksum of the entries: the spikes stated in the header, with a hole;
/// - damaged header: a hole up to the next intact header, or the end;
/// - missing sequence number: a hole; repeated number: its spikes, as duplicate; number after those of its successors:
///   its spikes, as out_of_order;
/// - file that ends inside a packet or has grown since it was opened, or failing disk: the stream breaks off.
///
/// Throws UserError when the file cannot be opened, its header is damaged or a key is wrong. read() throws UserError
/// when a time is not a whole number of ticks and must not be rounded.
std::unique_ptr<HitReader> open_spikes(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
