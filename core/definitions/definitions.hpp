#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/definitions/event_definition.hpp"
#include "core/definitions/run_ticks.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// Parses `--define`, starting at character `begin`: a name may precede it, which messages show. `detector` names the
/// groups, and is never null. Throws UserError that states what was expected.
EventDefinitionPtr parse_event_definition(std::string_view given, const RunTicks& ticks,
                                          const DetectorPtr& detector = std::make_shared<Detector>(),
                                          std::size_t begin = 0);

/// All forms of `--define`: "gap:G,M or ...".
std::string definition_usage();

/// One line per kind, for `--help`.
std::string definition_help();

}  // namespace eventloom
