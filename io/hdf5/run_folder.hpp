#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/hdf5/part_list.hpp"
#include "io/hdf5/part_writer.hpp"

/// The files of a run beside run.h5, as they come and go. Of all ranks, rank 0 alone looks after them.
namespace eventloom {

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

/// Takes up an interrupted run: reads the lists of finished parts, gives those their names that were on
/// disk and in a list but did not get that far, and removes what is not finished. Reads no part; takes time in
/// proportion to the number of parts. Throws UserError when a list is damaged or a listed part is missing
/// or has another size, and then changes nothing.
FinishedWork take_up_run(const std::filesystem::path& run_file);

/// Removes the lists, and the parts that are not among `parts`: of a run that is closed.
void remove_leftovers(const std::filesystem::path& run_file, const std::set<std::string>& parts);

/// Removes run.h5 of an earlier run, its parts and lists and what was left half-written.
void remove_old_run(const std::filesystem::path& run_file);

/// The folder in `scratch` for the parts of this run while they are written. Runs of different folders do not meet.
std::filesystem::path scratch_folder(const std::filesystem::path& scratch, const std::filesystem::path& run_file);
/// Makes that folder, if need be, and removes what an earlier attempt at this run has left there. Before any part
/// is begun; several ranks of a host may do it at once.
void prepare_scratch(const std::filesystem::path& folder, const std::filesystem::path& run_file);

}  // namespace eventloom
