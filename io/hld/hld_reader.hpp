#pragma once

#include <memory>
#include <span>
#include <string>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// hld:PATH[?tdc[=0xe000-0xe00f,0xe100]][&time=tag|tdc][&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=ID][&concat]
///
/// Without `tdc` each subevent is a hit, with it each time of a TRB3's TDC: of the given addresses, or of all FPGAs
/// whose words look like those of TDCs. time=tag, the default: the time is the event number, 32 bits, unwrapped and
/// judged as described at EventNumbers; numbers are ticks. `number`: some bits of a data word, of the first subevent
/// that has it, or the first whose id is `from`; `bits`: the lowest of those in the header count. time=tdc: the epoch
/// counter and the coarse time of the TDC in ticks. The text of the header describes channel and payload.
///
/// `paths`: the files of the source in order, one, or several of one run (`concat`).
/// Throws UserError when a key is invalid, or a file cannot be opened or is not an HLD file.
std::unique_ptr<HitReader> open_hld(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base);

}  // namespace eventloom
