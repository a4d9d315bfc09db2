#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/registry/source_spec.hpp"

namespace eventloom {

/// The columns of each recorded source that are not read, such as a table's payload that was not asked for. The sources
/// have been opened successfully; live ones have none.
std::vector<std::vector<std::string>> unread_columns(std::span<const SourceSpec> specs);

}  // namespace eventloom
