#pragma once

#include <memory>
#include <span>
#include <string>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/files/followed_files.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// hld:PATH[?tdc[=0xe000-0xe00f,0xe100]][&time=tag|tdc][&bits=N][&number=word:OFFSET[:LOW-HIGH]][&from=ID][&concat]
///
/// Each subevent is a hit; with the key `tdc`, each TRB3 TDC time is a hit: those of the given addresses, or of all
/// FPGAs whose words look like TDC data.
///
/// - time=tag (default): the time is the event number, 32 bits, unwrapped and judged as described at EventNumbers; one
///   number is one tick. `number` takes it from bits of a data word, in the first subevent that has it or the first
///   whose id is `from`; otherwise `bits` gives how many low bits of the number in the header count.
/// - time=tdc: the time is the TDC's epoch counter and coarse time, in ticks.
///
/// The text of the stream header describes channel and payload.
///
/// `paths`: the files of the source in order; several if they belong to one run (`concat`). `followed`: if set, the
/// first path and the files that follow it. Throws UserError when a key is invalid, or a file cannot be opened or is
/// not an HLD file.
std::unique_ptr<HitReader> open_hld(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base, Followed followed = nullptr);

}  // namespace eventloom
