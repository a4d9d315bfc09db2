#pragma once

#include <string>
#include <vector>

#include "app/document/plot.hpp"
#include "app/tools/align/alignment.hpp"

namespace eventloom {

/// A table for the user: a line per unit with its offset, error and coincidences, and the width of the coincidences
/// before and after.
std::string alignment_text(const Alignment& alignment, std::uint64_t tick_ps);

/// The units without an offset, as sentences for the user; empty if all have one.
std::vector<std::string> alignment_gaps(const Alignment& alignment);

/// The time differences of all pairs before and after.
std::vector<Plot> alignment_plots(const Alignment& alignment, std::uint64_t tick_ps);

}  // namespace eventloom
