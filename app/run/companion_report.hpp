#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "app/run/output_settings.hpp"
#include "io/run_format/part_info.hpp"

/// Reports on the list-mode files of `--also` of one definition.
namespace eventloom {

/// Prints one line per format.
void print_companions(std::ostream& out, const DefinitionOutput& run, const std::vector<PartInfo>& parts);
/// Returns a list with one object per format.
nlohmann::ordered_json companions_json(const DefinitionOutput& run, const std::vector<PartInfo>& parts);

}  // namespace eventloom
