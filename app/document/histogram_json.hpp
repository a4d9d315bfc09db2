#pragma once

#include <span>

#include "core/runtime/json.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// {"name", "axes": [{"quantity", "unit", "edges"}], "counts", "entries", "underflow", "overflow"}; the counts of two
/// axes are a list of rows.
Json histogram_json(const HistogramRecord& histogram);

/// {"histograms": [as above]}
Json histograms_json(std::span<const HistogramRecord> histograms);

/// The histogram with no more bins than a page holds: neighbours are merged if there are more than 16384 bins, or more
/// than 400 along one of two axes.
HistogramRecord for_page(const HistogramRecord& histogram);

}  // namespace eventloom
