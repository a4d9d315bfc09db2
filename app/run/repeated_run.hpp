#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/run_format/run_record.hpp"

/// `run --config run.h5`: runs again with the settings that a run has recorded.
namespace eventloom {

/// Whether this is the output of a run: its run file, perhaps merged, or the index of several. Throws UserError if it
/// is another HDF5 file.
bool is_repeatable(const std::filesystem::path& file);

/// The setup of the run as INI text, without the options in `given`, which override it. Throws UserError if the file is
/// damaged, or if paths in it are relative to another folder than the current one.
std::string setup_to_repeat(const std::filesystem::path& file, const std::set<std::string>& given);

/// Describes the differences between a run `now` and the run in `file` that change the result.
std::vector<std::string> changes_since(const std::filesystem::path& file, const RunRecord& now);

}  // namespace eventloom
