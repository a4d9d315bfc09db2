#pragma once

#include <ostream>
#include <span>

#include "app/document/detector_names.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// A line per histogram: entries, underflow, overflow, mean and standard deviation along its axes.
void print_histogram_list(std::ostream& out, std::span<const HistogramRecord> histograms);

/// A histogram with its bins as bars, neighbours joined to at most 40; one of two axes without bins.
/// Bins of single channels have `names`.
void print_histogram(std::ostream& out, const HistogramRecord& histogram, const ChannelNames& names);

/// Rows "low,high,count", or with two axes "low_0,high_0,low_1,high_1,count", below a line with these names.
void print_histogram_csv(std::ostream& out, const HistogramRecord& histogram);

}  // namespace eventloom
