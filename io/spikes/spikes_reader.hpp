#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// spikes:PATH[?label=BASE][&round=down|nearest][&reorder=N], see formats/spikes.hpp.
///
/// A spike is a hit without payload. Its channel is label + BASE, by default the base that the file
/// names; its time is converted exactly from the file's tick to that of `base`, or rounded if asked.
///
/// Whole packets count; what is damaged is left out and becomes a loss:
/// - wrong checksum of the entries: the spikes that the header tells, with a hole;
/// - damaged header: a hole up to the next header that is whole, or the end;
/// - missing sequence number: a hole; one that was there before: its spikes, as duplicate; one that
///   comes later than its successors: its spikes, as out_of_order;
/// - the end inside of a packet, bytes appended since the file was opened, a failing disk: breaks off.
///
/// Throws UserError when the file cannot be opened, its header is damaged or a key is wrong; read()
/// does when a time is not a whole number of ticks and may not be rounded.
std::unique_ptr<HitReader> open_spikes(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
