#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/hdf5/output_file.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// Attribute of the root of all outputs that have histograms: RunRecord::histograms.
inline constexpr const char* kHistograms = "histograms";

/// Writes /histograms if there are any.
void write_histograms(const OutputFile& file, std::span<const HistogramRecord> histograms);
/// Reads the histograms that a run was asked for (RunRecord::histograms). `name`: the file, for messages. Throws
/// UserError if one is missing or damaged.
std::vector<HistogramRecord> read_histograms(hid_t file, const std::string& name, std::span<const std::string> texts);

}  // namespace eventloom
