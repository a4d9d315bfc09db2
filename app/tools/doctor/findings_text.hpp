#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Prints a line per finding; below it, unless the level is ok, the meaning and the fix. Names the affected hosts if
/// they are fewer than `hosts`.
void print_findings(std::ostream& out, const std::vector<Finding>& findings, std::size_t hosts);

}  // namespace eventloom
