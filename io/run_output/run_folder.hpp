#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "io/run_format/part_info.hpp"
#include "io/run_input/finished_work.hpp"

/// The files of a run beside run.h5. Rank 0 alone manages them.
namespace eventloom {

/// Throws UserError when files with names of its parts belong to a run of another file: `run` beside `run.h5`.
void refuse_parts_of_others(const std::filesystem::path& run_file);
/// Whether a file is a run file, a part or a list of some run, by its contents; also an empty file.
bool is_of_run(const std::filesystem::path& file);

/// Why a listed part cannot be used: missing, not as listed, or damaged, then with the dataset; nothing when it is
/// intact. Reads the whole part; ranks may share the parts among them.
std::optional<std::string> damage_of_part(const std::filesystem::path& run_file, const PartInfo& part);

/// Defects of parts, by their names.
using DamagedParts = std::map<std::string, std::string>;

/// Prepares the folder of an interrupted run: renames damaged parts and removes them from `work` and from the lists,
/// completes the renaming of parts that are on disk and in a list, and removes unfinished files.
void take_up_run(const std::filesystem::path& run_file, FinishedWork& work, const DamagedParts& damaged);

/// Removes the lists, and the parts that are not among `parts`, of a closed run. Like all functions here that remove
/// files, it leaves files alone whose names match but which is_of_run() does not recognise.
void remove_leftovers(const std::filesystem::path& run_file, const std::set<std::string>& parts);

/// Removes the lists of an earlier run of this name: its parts are those of its run file, or unused.
void remove_lists(const std::filesystem::path& run_file);

/// The folder in `scratch` for the parts of this run while they are written. Runs of different folders do not share
/// one.
std::filesystem::path scratch_folder(const std::filesystem::path& scratch, const std::filesystem::path& run_file);
/// Creates that folder if necessary, and removes the files of an earlier attempt at this run. Call before any part is
/// begun; several ranks of a host may do so at once.
void prepare_scratch(const std::filesystem::path& folder, const std::filesystem::path& run_file);

}  // namespace eventloom
