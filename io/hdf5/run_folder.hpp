#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/hdf5/part_list.hpp"
#include "io/hdf5/part_writer.hpp"

/// The files of a run beside run.h5, as they come and go. Of all ranks, rank 0 alone looks after them.
namespace eventloom {

/// Whether a run writes a file of this name into the folder of its run file, itself included.
bool is_name_of_run(const std::filesystem::path& run_file, const std::string& name);
/// Whether that would be a part, finished or not.
bool is_name_of_part(const std::filesystem::path& run_file, const std::string& name);
/// Whether a file is a run file, a part or a list of some run, by its content; also one without content.
bool is_of_run(const std::filesystem::path& file);

/// Where a writer goes on.
struct WriterPlace {
  PartListPlace list;
  std::uint32_t next_segment = 0;
};

/// What an interrupted run has left that is finished.
struct FinishedWork {
  std::vector<FinishedPart> parts;
  std::map<std::uint32_t, WriterPlace> writers;
};

/// Reads the lists of finished parts of an interrupted run, and nothing else. Throws UserError when one is damaged.
FinishedWork read_finished_work(const std::filesystem::path& run_file);

/// What is wrong with a part that is listed, so that it cannot be used: missing, not as listed, or damaged, then with
/// the dataset; nothing when it is good. Reads all of the part; ranks may share the parts among them.
std::optional<std::string> damage_of_part(const std::filesystem::path& run_file, const PartInfo& part);

/// What is wrong with parts, by their names.
using DamagedParts = std::map<std::string, std::string>;

/// Takes up an interrupted run: keeps damaged parts under another name and takes them out of `work` and of the lists,
/// gives parts their names that were on disk and in a list but did not get that far, and removes what is not finished.
void take_up_run(const std::filesystem::path& run_file, FinishedWork& work, const DamagedParts& damaged);

/// Removes the lists, and the parts that are not among `parts`: of a run that is closed. Like all that removes here, it
/// leaves alone what has such a name but is_of_run() does not know.
void remove_leftovers(const std::filesystem::path& run_file, const std::set<std::string>& parts);

/// Removes the lists of an earlier run that has this name: its parts are those of its run file then, or nobody's.
void remove_lists(const std::filesystem::path& run_file);

/// The folder in `scratch` for the parts of this run while they are written. Runs of different folders do not meet.
std::filesystem::path scratch_folder(const std::filesystem::path& scratch, const std::filesystem::path& run_file);
/// Makes that folder, if need be, and removes what an earlier attempt at this run has left there. Before any part
/// is begun; several ranks of a host may do it at once.
void prepare_scratch(const std::filesystem::path& folder, const std::filesystem::path& run_file);

}  // namespace eventloom
