#pragma once

#include <string>

#include "app/command/file_plan.hpp"
#include "app/view/merge/merge_to_files.hpp"

namespace eventloom {

/// Whether a target of `--to` is root:PATH or parquet:PATH. Throws UserError unless it is one of these or an
/// EventTarget.
bool is_written_by_python(const std::string& target);

/// Implements `merge --to root:PATH[?kind=rntuple&names]` and `parquet:PATH[?names]`: the Python package writes the
/// file, in a process of the first python3 in PATH that has the modules it needs. The file has its partial name until
/// it is complete and on disk. Arguments and return value are those of merge_to_files(). If no python3 has
/// the modules, the message of the UserError lists the packages to install.
int merge_by_python(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing);

}  // namespace eventloom
