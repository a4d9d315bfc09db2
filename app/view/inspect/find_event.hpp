#pragma once

#include <iosfwd>
#include <span>

#include "formats/geometry.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Shows the event `number` of recorded sources whose times are event numbers, as look_at_live() does; from each of
/// the sources that has it. Returns the exit code: 3 if the data read until then are damaged. Throws UserError if no
/// source has the event.
int show_recorded_event(std::span<const SourceSpec> specs, Tick number, bool hex, const TimeBaseOptions& base,
                        std::ostream& out);

}  // namespace eventloom
