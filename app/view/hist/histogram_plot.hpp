#pragma once

#include "app/document/detector_names.hpp"
#include "app/document/plot.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// A histogram as steps, or as a map of colours if it has two axes. `log_counts`: logarithmic scale of the counts.
/// Axes of channels have `names`.
Plot plot_of(const HistogramRecord& histogram, bool log_counts, const ChannelNames& names = {});

}  // namespace eventloom
