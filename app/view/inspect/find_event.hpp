#pragma once

#include <iosfwd>
#include <span>

#include "formats/geometry.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Shows the event `number` of recorded sources whose times are event numbers, as look_at_live() does; of several, of
/// each that has it. Returns the exit code: 3 when what was read until then is damaged. Throws UserError when none has
/// it.
int show_recorded_event(std::span<const SourceSpec> specs, Tick number, bool hex, const TimeBaseOptions& base,
                        std::ostream& out);

}  // namespace eventloom
