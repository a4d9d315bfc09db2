#pragma once

#include <ostream>
#include <string>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// Prints an event: what it is, a picture of its hits over time, and a table of them when they are few. Names of
/// sources and channels are made safe for a terminal. `colour`: with colours of ANSI terminals, one for each source.
void print_event(std::ostream& out, const EventView& view, bool colour);

/// The parts of it that other texts need: what the flags mean, and the lines of the table. `more`: columns between the
/// channel and the payload.
std::string flags_text(const OutputEvent& event);
std::string hit_heading(const std::string& more = {});
std::string hit_row(const EventView& view, const OutputHit& hit, const std::string& more = {});

}  // namespace eventloom
