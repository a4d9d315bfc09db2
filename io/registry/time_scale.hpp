#pragma once

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Whether the times of a source are nanoseconds of TAI since 1970, as White Rabbit stamps are, and not shifted.
bool counts_tai(const SourceUri& uri);

}  // namespace eventloom
