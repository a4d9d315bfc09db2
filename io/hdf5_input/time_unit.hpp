#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/column_reader.hpp"
#include "io/recorded/tick_scale.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// What the numbers of a dataset of times are in ticks. Their unit is that of the key `unit`, of the attribute `units`
/// or `unit` ("ns", "seconds"; or `tick_ps`, which Eventloom's own files have) or of the dataset's name (time_ns).
/// Throws UserError when none of them states it, or when the attribute contradicts the key, or the name where there is
/// no key.
TickScale time_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps);

/// Likewise of the times of pulses: the attribute comes first, since `unit` is that of the times since a pulse, too.
TickScale pulse_scale_of(const SourceUri& uri, const ColumnReader& column, std::uint64_t tick_ps);

}  // namespace eventloom
