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

/// lmd:PATH[?time=tag|wr|word:OFFSET,COUNT][&wr=ID][&from=CCRRPPPP][&unit=ns][&round=down|nearest][&concat]
///
/// GSI list-mode data, one hit per subevent; see formats/lmd.hpp for the rule and lmd_time.hpp for the times. With
/// time=tag (default), times are event numbers, unwrapped and judged as described at EventNumbers.
///
/// `paths`: the files of the source in order; several if they belong to one run (`concat`). Numbers continue across
/// files. `followed`: if set, the first path and the files that follow it. For several files, input() returns the sum
/// of their sizes, and a checksum of all their sizes and checksums. Throws UserError when a key is invalid, or a file
/// cannot be opened or is not an LMD file.
std::unique_ptr<HitReader> open_lmd(const SourceUri& uri, std::span<const std::string> paths, SourceId id,
                                    const TimeBase& base, Followed followed = nullptr);

}  // namespace eventloom
