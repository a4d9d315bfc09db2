#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Names of the files of a run, all in the folder of its run file.
namespace eventloom {

/// True when a run may write a file of this name into the folder of its run file, itself included.
bool is_name_of_run(const std::filesystem::path& run_file, const std::string& name);
/// True when that name is a part, finished or not.
bool is_name_of_part(const std::filesystem::path& run_file, const std::string& name);

/// True when a name is that of a part of a run whose run file has this stem: `<stem>.part-<digits>-<digits>.h5`, with
/// or without `.partial`.
bool is_part_of(const std::string& stem, std::string_view name);
/// `<stem>.part-<digits>.list`
bool is_list_of(const std::string& stem, std::string_view name);
/// Likewise for the list while it is being rewritten.
bool is_unfinished_list_of(const std::string& stem, std::string_view name);
/// `<stem>.live-<digits>.place`, with or without `.partial`.
bool is_place_of(const std::string& stem, std::string_view name);

/// `<stem>.reserve`, with or without `.partial`.
bool is_reserve_of(const std::string& stem, std::string_view name);

std::filesystem::path folder_of(const std::filesystem::path& run_file);
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::function<bool(const std::string& name)>& wanted);

}  // namespace eventloom
