#pragma once

#include <string>

namespace eventloom {

/// All schemes of sources with their keys, for users: the rows of registry.cpp.
std::string scheme_list();

}  // namespace eventloom
