#pragma once

#include <filesystem>
#include <vector>

#include "app/file_plan.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// Adds to what `plan` reads the files that the run of `record`, in `folder`, was built from: where the run has read
/// them, seen from where it was called (from here, if that is not known) or from its own folder. Those of a source that
/// is no longer there, moved or renamed, are looked for by their contents in `replaced`: existing files that the
/// command would replace, in the order of names.
void plan_source_files(FilePlan& plan, const RunRecord& record, const std::filesystem::path& folder,
                       const std::vector<std::filesystem::path>& replaced);

}  // namespace eventloom
