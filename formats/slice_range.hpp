#pragma once

#include "formats/geometry.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Half-open range of slices.
using SliceRange = Range<SliceId>;

}  // namespace eventloom
