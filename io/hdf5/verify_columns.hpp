#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/hdf5/part_info.hpp"
#include "io/hdf5/part_list.hpp"

namespace eventloom {

/// Reads all columns of a part or a merged file, checksums included. Throws UserError that names file and dataset when
/// one is damaged, or has another number of rows than the others of its table.
void verify_columns(const std::filesystem::path& file);

/// What is wrong with a part's columns, or that there are not as many events, hits and slices as listed; nothing when
/// it is good.
std::optional<std::string> damage_of_columns(const std::filesystem::path& file, const PartInfo& part);

/// The entry of a part in the list of its writer, made again from the part itself; without what its sources lost, which
/// stands there by cause alone. Throws UserError.
FinishedPart finished_part_of(const std::filesystem::path& file, const PartInfo& part);

}  // namespace eventloom
