#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// As far as a server's time stamps are believed where they come from.
inline constexpr double kMostMbsJump_s = 3600;

/// mbs://HOST[:PORT]/transport|stream[?time=tag|wr|word:OFFSET,COUNT][&wr=ID][&from=CCRRPPPP][&unit=ns]
/// [&round=down|nearest][&reorder=N][&era=auto|repeat|new]
///
/// `era`: what numbers that go back over another connection are; see EraRule.
///
/// A server of the Multi Branch System or of DABC: a hit per subevent, as of a file that holds what it sends; see
/// lmd_reader.hpp. Without a connection at the start, throws UserError unless it is to be looked for again.
std::unique_ptr<LiveFeed> open_mbs(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings);

}  // namespace eventloom
