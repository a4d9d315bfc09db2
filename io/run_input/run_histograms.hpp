#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/run_format/histogram_record.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// The sums of the histograms over the parts of a run. `texts`: RunRecord::histograms. Throws UserError if a part is
/// missing or damaged.
std::vector<HistogramRecord> sum_histograms(const std::filesystem::path& folder, std::span<const PartInfo> parts,
                                            std::span<const std::string> texts);

/// The histograms in a closed run.h5 or a merged file; empty if the run has none. Throws UserError.
std::vector<HistogramRecord> histograms_of(const std::filesystem::path& file);

}  // namespace eventloom
