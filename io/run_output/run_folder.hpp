#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "io/run_format/part_info.hpp"
#include "io/run_input/finished_work.hpp"

/// The files of a run beside run.h5. Only rank 0 manages them.
namespace eventloom {

/// Throws UserError when files with the names of its parts belong to another run file, such as `run` beside `run.h5`.
void refuse_parts_of_others(const std::filesystem::path& run_file);
/// True when a file's contents are those of a run, such as a run file, a part or a list, but not a merged file;
/// also for an empty file.
bool is_of_run(const std::filesystem::path& file);

/// Why a listed part cannot be used: missing, not as listed, or damaged (with the dataset); std::nullopt when it is
/// intact. Reads the whole part; ranks may divide the parts among themselves.
std::optional<std::string> damage_of_part(const std::filesystem::path& run_file, const PartInfo& part);

/// Defects of parts, by part name.
using DamagedParts = std::map<std::string, std::string>;

/// Prepares the folder of an interrupted run. Renames damaged parts and removes them from `work` and from the lists.
/// Gives parts that are on disk and in a list their final names. Removes unfinished files.
void take_up_run(const std::filesystem::path& run_file, FinishedWork& work, const DamagedParts& damaged);

/// Removes the lists of a closed run, and all parts not in `parts`. Like all functions here that remove files, it keeps
/// files with matching names that is_of_run() does not recognise.
void remove_leftovers(const std::filesystem::path& run_file, const std::set<std::string>& parts);

/// Removes the lists of an earlier run of this name: its parts are in its run file, or unused.
void remove_lists(const std::filesystem::path& run_file);

/// The folder in `scratch` for the parts of this run while they are written. Runs in different folders use different
/// ones.
std::filesystem::path scratch_folder(const std::filesystem::path& scratch, const std::filesystem::path& run_file);
/// Creates that folder if necessary, and removes the files of an earlier attempt at this run. Call before beginning any
/// part; several ranks of a host may call it concurrently.
void prepare_scratch(const std::filesystem::path& folder, const std::filesystem::path& run_file);

/// Creates `folder`, see OutputFolders::next, if necessary, and removes the parts of this run in it to which no link
/// beside the run file leads: a writer that died has left them. Call on one rank, before beginning any part.
void prepare_next_folder(const std::filesystem::path& folder, const std::filesystem::path& run_file);

}  // namespace eventloom
