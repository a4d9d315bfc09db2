#pragma once

#include <string>

/// Where commands put what they write. All throw UserError.
namespace eventloom {

/// Creates the folder and those above it, unless it is there already.
void create_folder(const std::string& path);

}  // namespace eventloom
