#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/definitions/event_definition.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// Parses `--define`, starting at character `begin`: a name may precede it, which messages show. Durations are in ticks
/// or carry a unit, names of groups are those of `detector`, which is never null. Throws UserError that states what was
/// expected.
EventDefinitionPtr parse_event_definition(std::string_view given, std::uint64_t tick_ps,
                                          const DetectorPtr& detector = std::make_shared<Detector>(),
                                          std::size_t begin = 0);

/// All forms of `--define`: "gap:G,M or ...".
std::string definition_usage();

/// One line per kind, for `--help`.
std::string definition_help();

}  // namespace eventloom
