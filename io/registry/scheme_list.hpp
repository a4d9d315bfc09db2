#pragma once

#include <string>

namespace eventloom {

/// All source schemes in registry.cpp with their keys, for users.
std::string scheme_list();

}  // namespace eventloom
