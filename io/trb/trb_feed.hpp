#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// trb://[ADDR]:PORT[?bits=24|16][&tdc[=0xe000-0xe00f,0xe100]][&optional]
///
/// Receives from a TRB3 or TRB5 board that sends datagrams (formats/trb.hpp) to this port alone; ADDR defaults to
/// 127.0.0.1. Each subevent, or each time of a TDC, becomes a hit, as in an HLD file; its time is the event number.
/// Numbers have `bits` bits and are unwrapped, see TrbSequence. `optional`: events may lack the board.
std::unique_ptr<LiveFeed> open_trb(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings);

}  // namespace eventloom
