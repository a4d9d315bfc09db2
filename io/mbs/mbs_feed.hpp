#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/live/live_feed.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The largest jump of a server's time stamps that is accepted.
inline constexpr double kMostMbsJump_s = 3600;

/// mbs://HOST[:PORT]/transport|stream[?time=tag|wr|word:OFFSET,COUNT][&wr=ID][&from=CCRRPPPP][&unit=ns]
/// [&round=down|nearest][&reorder=N][&era=auto|repeat|new]
///
/// `era`: the meaning of numbers that go back after a reconnection; see EraRule.
///
/// A server of the Multi Branch System or of DABC: a hit per subevent, as for a file of the same buffers; see
/// lmd_reader.hpp. Without a connection at the start, throws UserError unless reconnection is enabled.
std::unique_ptr<LiveFeed> open_mbs(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings);

}  // namespace eventloom
