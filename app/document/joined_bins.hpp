#pragma once

#include <cstddef>

#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// The histogram with at most `most` bins along each axis: neighbours are joined; the last bin may join fewer.
HistogramRecord joined_bins(const HistogramRecord& histogram, std::size_t most);

}  // namespace eventloom
