#pragma once

#include <filesystem>
#include <string>

/// Recognises Eventloom's HDF5 files by their contents.
namespace eventloom {

/// kRunFormat, kPartFormat, kMergedFormat or kIndexFormat; empty for any other or unreadable file.
std::string output_format_of(const std::filesystem::path& file);

/// For Recognise.
bool is_run_file(const std::filesystem::path& file);
bool is_part_file(const std::filesystem::path& file);
/// The name of the run file that a part was written for; empty where it does not say.
std::string run_file_of_part(const std::filesystem::path& part);
/// Also a part that is being written.
bool is_merged_file(const std::filesystem::path& file);
/// Any of these, also one that is being written.
bool is_own_hdf5(const std::filesystem::path& file);

}  // namespace eventloom
