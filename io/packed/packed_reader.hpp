#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Reads any list mode of fixed-size records, one hit each:
///
/// packed:PATH?record=BYTES&time=FIELD&channel=FIELD[&system=FIELD][&subsystem=FIELD][&payload=FIELD,...]
///             [&channels=FILE][&where=FIELD==VALUE][&skip=BYTES][&unit=ns][&round=down|nearest][&numbered=yes]
///             [&reorder=N]
///
/// - FIELD: see io/packed/field.hpp.
/// - channel: 28 bits. `system` and `subsystem`, 6 bits each, occupy bits 27..22 and 21..16, and `channel` the bits
///   below: 22 bits with `system` alone, else 16. Records without channels have `fixed-channel`.
/// - channels: a table of ids and the channels that they become, see ChannelIds.
/// - where: records for which it does not hold are left out and counted (cut), see row_condition().
/// - unit: may differ between channels, see units_by_channel().
/// - overflow: records that make no hits, but mark turns of the counter, see turn_condition().
/// - payload: one 32-bit word per field, or two, low word first, for a field of more than 32 bits. Signed fields, f32
///   and f64 are kept exactly, as the header's payload kinds state; a scaled field is rounded to the nearest whole
///   number and yields one word, with a sign if its type has one.
/// - time: also two fields, see io/packed/time_field.hpp. f32 and f64 are rounded to the nearest tick unless `round`
///   specifies otherwise. Without `round`, hits whose number cannot distinguish adjacent ticks are counted
///   (imprecise_times).
/// - skip: bytes before the first record.
/// - numbered: times are event numbers, which several hits may share, and have no unit.
///
/// A record whose channel, time or payload does not fit - NaN and negative times never do - is a loss of one hit. If
/// the file ends inside a record, has grown since it was opened, or the disk fails, the stream breaks off.
///
/// Throws UserError when the file cannot be opened or the description is wrong. read() throws UserError when a time is
/// not a whole number of ticks and must not be rounded.
std::unique_ptr<HitReader> open_packed(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
