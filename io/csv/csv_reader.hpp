#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// csv:PATH?time=2&channel=1&unit=ms[&skip=3][&payload=3,4][&round=down|nearest][&reorder=N]: columns of a text file,
/// counted from 1.
///
/// Throws UserError when a key is wrong, or when the file cannot be opened or does not match the URI.
std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
