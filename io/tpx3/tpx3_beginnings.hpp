#pragma once

#include <span>
#include <string>

namespace eventloom {

/// Compares the beginnings of several sources; `files` are their first files. Throws UserError when they begin at
/// different times of their clocks and a file has no global time: how often its clock had started again is then
/// unknown, and data that are far apart could be merged.
void require_placed_clocks(std::span<const std::string> files);

}  // namespace eventloom
