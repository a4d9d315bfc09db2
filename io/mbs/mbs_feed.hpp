#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The largest jump of a server's time stamps that is accepted at once.
inline constexpr double kMostMbsJump_s = 3600;

/// mbs://HOST[:PORT]/transport|stream[?time=tag|wr|word:OFFSET,COUNT][&wr=ID][&from=CCRRPPPP][&unit=ns]
/// [&round=down|nearest][&reorder=N][&era=auto|repeat|new]
///
/// `era`: how to interpret numbers that go back after a reconnection; see EraRule.
///
/// Receives from a server of the Multi Branch System or of DABC. Each subevent becomes a hit, as in a file of the same
/// buffers; see lmd_reader.hpp. Throws UserError when the server does not answer and reconnection is disabled.
std::unique_ptr<LiveFeed> open_mbs(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings);

}  // namespace eventloom
