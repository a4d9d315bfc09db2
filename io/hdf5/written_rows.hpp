#pragma once

#include <filesystem>

#include "io/hdf5/handle.hpp"
#include "io/hdf5/row_ranges.hpp"

namespace eventloom {

/// The rows of a column that were ever written; HDF5 reads the others as a fill value, which is 0 by default. Those of
/// a chunked dataset are in chunks of the file; those of a virtual one are mapped to rows of other datasets that were
/// written in turn. Sources of a virtual dataset that are no columns count as written. `file` holds the dataset.
RowRanges written_rows(hid_t dataset, const std::filesystem::path& file);

}  // namespace eventloom
