#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/run_format/part_info.hpp"
#include "io/run_format/part_list.hpp"

namespace eventloom {

/// Reads all columns of a part or a merged file, checksums included. Throws UserError that names file and dataset when
/// one is damaged, differs in length from the others of its table, or contradicts them.
void verify_columns(const std::filesystem::path& file);

/// Defects of a part's columns, or a mismatch with the listed numbers of events, hits and slices; nothing when it is
/// intact.
std::optional<std::string> damage_of_columns(const std::filesystem::path& file, const PartInfo& part);

/// Restores the entry of a part in the list of its writer from the part itself; without the losses by source, of which
/// it holds only the sums by cause. Throws UserError.
FinishedPart finished_part_of(const std::filesystem::path& file, const PartInfo& part);

}  // namespace eventloom
