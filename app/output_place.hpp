#pragma once

#include <string>

/// Where commands put what they write. All throw UserError.
namespace eventloom {

/// Creates the folder and those above it, unless it is there already.
void create_folder(const std::string& path);

/// Complains about a file that is there already, unless `force`.
void refuse_existing(const std::string& path, bool force);

}  // namespace eventloom
