#pragma once

#include <string>

#include "app/run/run_clock.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The stretch of time from `from` up to `to`. Each is empty (no bound), a length of time after tick 0, a text that
/// parse_unix_ns() accepts or, if times are event numbers, an event number. Times in UTC are checked but do not bound
/// the result until the sources are open. Throws UserError, also if the stretch is empty.
TickRange wanted_stretch(const std::string& from, const std::string& to, const RunClock& clock);

}  // namespace eventloom
