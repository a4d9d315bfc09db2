#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/units.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The factor 1 + `drift` by which the key `drift` multiplies all times, exactly: `drift=-1.5ppm` or `drift=120ppb`. 1
/// if the key is absent. Throws UserError when it has another form, is not below 1 %, or has more than 12 decimals.
Decimal clock_rate(const SourceUri& uri);

/// The length of a tick of the clock: the unit in `key`, ns by default, times `scale` and clock_rate(). Throws
/// UserError when a key is invalid or the product has too many digits.
TimeUnit clock_unit(const SourceUri& uri, std::string_view key, std::uint64_t tick_ps, Decimal scale = {1, 0});

/// The column of the key `coarse`, whose numbers count steps of `coarse-unit` that are added to the times; empty if the
/// key is absent. Throws UserError when one key is given without the other.
std::string coarse_column(const SourceUri& uri);

}  // namespace eventloom
