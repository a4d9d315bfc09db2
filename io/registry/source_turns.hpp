#pragma once

#include <span>
#include <string>

#include "io/registry/source_spec.hpp"

namespace eventloom {

/// The clock that a source counts: equal for sources of one clock. Sources that one URI names share a clock, the key
/// `clock` joins others.
std::string clock_of(const SourceSpec& spec);

/// The URI that reads a source whose counter begins in the turn where it was placed. Event numbers are raised instead.
SourceUri placed_uri(const SourceSpec& spec);

/// Reads the beginnings of sources whose counters turn, and places them (SourceSpec::turns): those of one clock begin
/// within half a turn. Says in which turn each begins where they differ. Throws UserError when that is ambiguous.
/// `before`: the URIs in the record of the run that is continued; followed sources begin in the same turns as there,
/// though their first hits may not have been there then. Empty: none is.
void place_turns(std::span<SourceSpec> specs, std::span<const std::string> before = {});

}  // namespace eventloom
