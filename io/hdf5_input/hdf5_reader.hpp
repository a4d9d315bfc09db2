#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// hdf5:PATH?group=/dom_1&time=time&channel=channel[&payload=tot][&unit=ns][&origin=-5ms][&offset=1us]
///           [&channels=FILE][&where=COLUMN==VALUE][&round=down|nearest][&reorder=N][&coarse-unit=25ns]
///
/// Reads the datasets of a group of any HDF5 file, or fields of its tables. The reader adds `offset` itself: times may
/// be negative before that. A row without a time or channel is a loss (corrupt), one before tick 0 likewise (untimed);
/// rows that `where` leaves out are counted (cut), see row_condition().
///
/// Throws UserError when a key is wrong, or when the file cannot be opened or does not match the URI.
std::unique_ptr<HitReader> open_hdf5(const SourceUri& uri, SourceId id, const TimeBase& base);

/// The datasets, and fields of tables, that are read from each group.
std::vector<std::string> hdf5_columns(const SourceUri& given);

}  // namespace eventloom
