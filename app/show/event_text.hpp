#pragma once

#include <ostream>

#include "app/show/event_view.hpp"

namespace eventloom {

/// Prints an event: what it is, a picture of its hits over time, and a table of them when they are few. Names of
/// sources are made safe for a terminal. `colour`: with colours of ANSI terminals, one for each source.
void print_event(std::ostream& out, const EventView& view, bool colour);

}  // namespace eventloom
