#pragma once

#include <filesystem>
#include <string>

/// Suggests a fix for a folder in which no file can be created.
namespace eventloom {

/// Returns the folder that `output` names: `output` itself, or its parent if it is a file or is named like one.
std::filesystem::path folder_of_output(const std::filesystem::path& output);

/// `error`: errno of the attempt. Never suggests what this user may not do or what would harm existing data.
std::string fix_of_refusal(const std::filesystem::path& folder, int error);

}  // namespace eventloom
