#pragma once

#include <filesystem>
#include <string>

/// A folder in which no file can be made: what mends it.
namespace eventloom {

/// The folder that `output` names: itself, or the one around it where it is a file or is called as one.
std::filesystem::path folder_of_output(const std::filesystem::path& output);

/// `error`: errno of the attempt. Nothing that this user may not do, or that would harm what is there.
std::string mend_of_refusal(const std::filesystem::path& folder, int error);

}  // namespace eventloom
