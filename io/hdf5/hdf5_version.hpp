#pragma once

#include <string>

namespace eventloom {

/// Of the library.
std::string hdf5_version();

}  // namespace eventloom
