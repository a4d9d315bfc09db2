#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/run_format/part_info.hpp"
#include "io/run_format/part_list.hpp"

namespace eventloom {

/// Reads all columns of a part or a merged file and verifies checksums. Throws UserError with file and dataset when a
/// column is damaged, or differs in length from its table or contradicts it.
void verify_columns(const std::filesystem::path& file);

/// Describes damage in a part's columns, or numbers of events, hits and slices that differ from those listed;
/// std::nullopt when it is intact.
std::optional<std::string> damage_of_columns(const std::filesystem::path& file, const PartInfo& part);

/// Restores the list entry of a part from the part itself. Losses by source are lost: a part has only their sums by
/// cause. Throws UserError.
FinishedPart finished_part_of(const std::filesystem::path& file, const PartInfo& part);

}  // namespace eventloom
