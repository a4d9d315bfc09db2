#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/document/detector_names.hpp"
#include "app/document/plot.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/histogram_record.hpp"

namespace eventloom {

/// Returns the plots of a report for gnuplot, from its status document and the histograms of --hist, each with its file
/// name without folder. `names`: of channels, see common_channel_names().
std::vector<std::pair<std::string, Plot>> report_plots(const Json& status, std::span<const HistogramRecord> histograms,
                                                       const ChannelNames& names = {});

/// Whether report_plots() has a file of this name, finished or not.
bool is_name_of_report_plot(std::string_view name);

}  // namespace eventloom
