#pragma once

#include <cstdint>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The URI of columns with unit=tick if `numbered=yes` says that their times are event numbers, otherwise unchanged.
/// Throws UserError when other keys give these a unit or an origin.
SourceUri with_numbers(const SourceUri& uri);

/// Flags of a stream of columns: see StreamFlag.
std::uint32_t flags_of_columns(const SourceUri& uri);

}  // namespace eventloom
