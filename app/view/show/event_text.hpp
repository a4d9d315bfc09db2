#pragma once

#include <ostream>
#include <string>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// Prints an event: its properties, a picture of its hits over time, and a table of them if they are few. Names of
/// sources and channels are made safe for a terminal. `colour`: use ANSI colours, one per source.
void print_event(std::ostream& out, const EventView& view, bool colour);

/// Parts that other texts also use: the meaning of the flags, and the lines of the table. `more`: columns between the
/// channel and the payload.
std::string flags_text(const OutputEvent& event);
std::string hit_heading(const std::string& more = {});
std::string hit_row(const EventView& view, const OutputHit& hit, const std::string& more = {});

}  // namespace eventloom
