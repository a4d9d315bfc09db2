#pragma once

#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// gen:static|gaussian|poisson|burst?rate=1e6[&channels=1024][&seed=1][&duration=1s][&payload=0]: generates hits.
///
/// Throws UserError when a key is wrong.
std::unique_ptr<HitReader> open_generator(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
