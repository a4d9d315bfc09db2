#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/document/plot.hpp"

namespace eventloom {

/// Names of files, without folder, and what is in them: the plots of a report for gnuplot, from its status document.
std::vector<std::pair<std::string, Plot>> report_plots(const nlohmann::json& status);

/// Whether a file of report_plots() has this name, finished or not.
bool is_name_of_report_plot(std::string_view name);

}  // namespace eventloom
