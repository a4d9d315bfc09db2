#pragma once

#include <cstdint>

#include "formats/geometry.hpp"
#include "io/recorded/time_order.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Whether the key `bits` of the source unwraps its times: in formats of events it is the width of the numbers.
bool unwraps_counters(const SourceUri& uri);

/// How far the times of a source, which are not event numbers, may go back. Throws UserError when a key is invalid.
TimeOrder order_of_times(const SourceUri& uri, std::uint64_t tick_ps);

/// The clock of an imported source.
TimeBase time_base_of(const TimeBaseOptions& options, bool numbered);

}  // namespace eventloom
