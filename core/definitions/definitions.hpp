#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions/event_definition.hpp"

namespace eventloom {

/// Parses `--define`; lengths of time are ticks or carry a unit. Throws UserError that says what was expected.
EventDefinitionPtr parse_event_definition(std::string_view text, std::uint64_t tick_ps);

/// All forms of `--define`: "gap:G,M or ...".
std::string definition_usage();

/// One line per kind, for `--help`.
std::string definition_help();

}  // namespace eventloom
