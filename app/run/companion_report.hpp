#pragma once

#include <iosfwd>
#include <vector>

#include "app/run/output_settings.hpp"
#include "core/runtime/json.hpp"
#include "io/run_format/part_info.hpp"

/// Reports on the list-mode files of `--also` of one definition.
namespace eventloom {

/// Prints one line per format.
void print_companions(std::ostream& out, const DefinitionOutput& run, const std::vector<PartInfo>& parts);
/// Returns a list with one object per format.
Json companions_json(const DefinitionOutput& run, const std::vector<PartInfo>& parts);

}  // namespace eventloom
