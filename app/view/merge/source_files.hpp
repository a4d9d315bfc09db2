#pragma once

#include <filesystem>
#include <vector>

#include "app/command/file_plan.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// Adds the files from which the run of `record`, in `folder`, was built to those that `plan` reads. Looks for them
/// where the run read them, relative to the folders in which it was called (or the current folder, if unknown) and to
/// its own folder. If a source is no longer there, because it was moved or renamed, looks for its contents in
/// `replaced`: existing files that the command would replace, in name order.
void plan_source_files(FilePlan& plan, const RunRecord& record, const std::filesystem::path& folder,
                       const std::vector<std::filesystem::path>& replaced);

}  // namespace eventloom
