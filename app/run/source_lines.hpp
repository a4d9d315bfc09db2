#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"

namespace eventloom {

/// What the summary says of single sources: a line for each with counters of trouble, and one on how far times go
/// back in the sources where they do, the farthest first.
void print_sources(std::ostream& out, const RunSetup& setup, const RunResult& result);

/// What live sources had to remark, as warnings: the last words of a run.
void tell_remarks(const RunSetup& setup, const RunResult& result);
nlohmann::ordered_json remarks_json(const RunResult& result);

}  // namespace eventloom
