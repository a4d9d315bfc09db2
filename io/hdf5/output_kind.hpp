#pragma once

#include <filesystem>
#include <string>

/// Which HDF5 files are Eventloom's, by what they say of themselves.
namespace eventloom {

/// kRunFormat, kPartFormat or kMergedFormat; empty for any other file, also for one that cannot be read.
std::string output_format_of(const std::filesystem::path& file);

/// For Recognise.
bool is_run_file(const std::filesystem::path& file);
bool is_part_file(const std::filesystem::path& file);
/// Also one that was being written.
bool is_merged_file(const std::filesystem::path& file);
/// Any of these, or one that was being written.
bool is_own_hdf5(const std::filesystem::path& file);

}  // namespace eventloom
