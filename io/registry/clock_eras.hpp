#pragma once

#include <vector>

#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Keeps the sources of a clock in step where `jumps=new-era` continues their times after jumps: fills in their eras.
/// Reads these sources once, unless one alone has its clock. Sources that are followed are left alone. Throws UserError
/// when their jumps do not correspond.
void place_eras_of_clocks(std::vector<SourceSpec>& specs, const TimeBaseOptions& base);

}  // namespace eventloom
