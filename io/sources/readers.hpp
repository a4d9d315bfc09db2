#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/sources/hit_reader.hpp"
#include "io/sources/source_uri.hpp"

/// The foreign formats. Each function opens one source, checks the keys of its URI, and throws
/// UserError when it cannot be opened or is not what the URI says.
namespace eventloom {

/// csv:PATH?time=2&channel=1&unit=ms[&skip=3][&payload=3,4][&round=down|nearest]
std::unique_ptr<HitReader> open_csv(const SourceUri& uri, SourceId id, const TimeBase& base);

/// hdf5:PATH?group=/dom_1&time=time&channel=channel[&payload=tot][&unit=ns][&round=down|nearest]
std::unique_ptr<HitReader> open_hdf5(const SourceUri& uri, SourceId id, const TimeBase& base);
/// The datasets that it reads from each group.
std::vector<std::string> hdf5_columns(const SourceUri& uri);

/// gen:static|gaussian|poisson|burst?rate=1e6[&channels=1024][&seed=1][&duration=1s][&payload=0]
std::unique_ptr<HitReader> open_generator(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
