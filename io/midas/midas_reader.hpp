#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// midas:PATH[?event=ID][&time=tag|NAME:OFFSET,COUNT][&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=NAME]
///           [&unit=ns][&round=down|nearest][&concat]
///
/// The events of one id, that of the first event unless `event` says another: each front end of MIDAS numbers its own.
/// A hit per bank; the text of the header describes channel and payload. With time=tag, the default, times are the
/// event numbers, unwrapped and judged as described at EventNumbers; see MidasTime for others.
///
/// `paths`: the files of the source in order, one, or several of one run (`concat`).
/// Throws UserError when a key is invalid, or a file cannot be opened or does not begin with an event.
std::unique_ptr<HitReader> open_midas(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                      const TimeBase& base);

/// As open_midas(), with ticks of 1 ns, and how many events of each id the file has.
nlohmann::ordered_json inspect_midas(const SourceUri& uri, std::uint64_t n_events,
                                     std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
