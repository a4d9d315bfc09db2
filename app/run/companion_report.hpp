#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "app/run/output_settings.hpp"
#include "io/hdf5/part_info.hpp"

/// What is said of the list-mode files of `--also`, of one definition.
namespace eventloom {

/// A line for each format.
void print_companions(std::ostream& out, const DefinitionOutput& run, const std::vector<PartInfo>& parts);
/// A list with an object for each format.
nlohmann::ordered_json companions_json(const DefinitionOutput& run, const std::vector<PartInfo>& parts);

}  // namespace eventloom
