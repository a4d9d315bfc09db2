#pragma once

#include <span>
#include <string>

namespace eventloom {

/// The first files of several sources. Throws UserError when they begin at different times of their clocks, and a file
/// has no global time: whether its clock had started again before cannot be known, and data that are far apart could
/// be laid over each other.
void require_placed_clocks(std::span<const std::string> files);

}  // namespace eventloom
