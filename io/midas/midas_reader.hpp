#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/runtime/json.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/files/followed_files.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// midas:PATH[?event=ID][&time=tag|NAME:OFFSET,COUNT][&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=NAME]
///           [&unit=ns][&round=down|nearest][&concat]
///           [&bank=NAME&record=BYTES&channel=FIELD[&time=FIELD][&payload=FIELD,...][&skip=BYTES]]
///
/// Reads the events of one id: `event`, or else the id of the first event, as each MIDAS front end numbers its own
/// events. Each bank becomes a hit; the text of the header describes channel and payload. With `bank`, each record in
/// that bank becomes one: see MidasRecords. With time=tag, the default,
/// times are the event numbers, unwrapped and checked as described at EventNumbers; see MidasTime for other times.
///
/// `paths`: the files of the source in order; several are files of one run (`concat`). `followed`: if set, the first
/// path and the files that follow it. Throws UserError when a key is invalid, or a file cannot be opened or does not
/// begin with an event.
std::unique_ptr<HitReader> open_midas(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                      const TimeBase& base, Followed followed = nullptr);

/// The contents as read by open_midas(), by default in ticks of 1 ns, and the number of events of each id.
Json inspect_midas(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
