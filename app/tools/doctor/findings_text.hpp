#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// A line for each finding, and what it means and what mends it below those that are not ok. Hosts are named where not
/// all of `hosts` have it.
void print_findings(std::ostream& out, const std::vector<Finding>& findings, std::size_t hosts);

}  // namespace eventloom
