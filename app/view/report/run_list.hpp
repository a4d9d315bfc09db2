#pragma once

#include <filesystem>
#include <ostream>
#include <span>
#include <string>

#include "core/runtime/json.hpp"
#include "io/run_format/run_log.hpp"

/// The log of a folder's runs, for `report --runs`. Users' texts may hold any characters and are made safe.
namespace eventloom {

/// One line per run.
void print_runs(std::ostream& out, std::span<const LoggedRun> runs);
Json runs_json(std::span<const LoggedRun> runs);

/// Begins every such page, by which it is recognised.
inline constexpr const char* kRunPageBegin = "<!DOCTYPE html><!-- Eventloom: runs -->";
/// A page that needs nothing else. `folder`: of the runs, as shown.
std::string runs_page(const std::string& folder, std::span<const LoggedRun> runs);

}  // namespace eventloom
