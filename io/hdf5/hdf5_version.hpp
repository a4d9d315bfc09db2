#pragma once

#include <string>

namespace eventloom {

/// Version of the HDF5 library in use.
std::string hdf5_version();

}  // namespace eventloom
