#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace eventloom {

/// The name of a source as a field of a detector map: its own name, quoted where necessary, or its number if the name
/// would be misread. `names`: those of all sources, indexed by number.
std::string source_in_map(std::span<const std::string> names, std::size_t number);

}  // namespace eventloom
