#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// A line per histogram: entries, underflow, overflow, mean and standard deviation along its axes.
void print_histogram_list(std::ostream& out, std::span<const HistogramRecord> histograms);

/// A histogram with its bins as bars, neighbours joined to at most 40; one of two axes without bins.
void print_histogram(std::ostream& out, const HistogramRecord& histogram);

/// Rows "low,high,count", or with two axes "low_0,high_0,low_1,high_1,count", below a line with these names.
void print_histogram_csv(std::ostream& out, const HistogramRecord& histogram);

/// {"histograms": [{"name", "axes": [{"quantity", "unit", "edges"}], "counts", "entries", "underflow", "overflow"}]};
/// the counts of two axes are a list of rows.
nlohmann::ordered_json histograms_json(std::span<const HistogramRecord> histograms);

}  // namespace eventloom
