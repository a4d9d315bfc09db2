#pragma once

#include <string>

#include "app/view/show/event_view.hpp"

namespace eventloom {

/// First bytes of every picture. They distinguish it from a file that Eventloom did not write.
extern const char* const kSvgBegin;

/// Returns a picture of an event as SVG 1.1: its hits over time, with a row per source or channel, and views of their
/// positions if any is known. See EventMarks for colours and sizes. Texts are escaped.
std::string event_svg(const EventView& view);

}  // namespace eventloom
