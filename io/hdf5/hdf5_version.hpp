#pragma once

#include <string>

namespace eventloom {

/// Version of the HDF5 library in use.
std::string hdf5_version();

/// HDF5's reason for a failure. Where the object may have been written by a newer HDF5, adds that and what to do.
std::string with_remedy(std::string reason);

}  // namespace eventloom
