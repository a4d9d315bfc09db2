#pragma once

#include <optional>
#include <span>
#include <string>

#include "io/recorded/clock_beginnings.hpp"

namespace eventloom {

/// Compares the beginnings of several sources; `files` are their first files. Throws UserError when they begin at
/// different times of their clocks and a file has no global time: how often its clock had started again is then
/// unknown, and data that are far apart could be merged.
void require_placed_clocks(std::span<const std::string> files);

/// How the pixels' clock of a file begins, in steps below kTpx3PixelPeriod. Files without times and files with global
/// times or TDC edges, which place themselves, have no such beginning.
std::optional<ClockBeginning> tpx3_beginning(const std::string& file);

}  // namespace eventloom
