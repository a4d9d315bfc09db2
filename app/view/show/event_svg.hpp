#pragma once

#include <string>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// First bytes of every picture: they distinguish it from a file that Eventloom did not write.
extern const char* const kSvgBegin;

/// A picture of an event, SVG 1.1: its hits over time, a row for each source or channel, and views of their positions
/// where any has one; see EventMarks for colours and sizes. Texts are escaped.
std::string event_svg(const EventView& view);

}  // namespace eventloom
