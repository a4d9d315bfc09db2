#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "core/runtime/error.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Opens an HDF5 file for reading. Throws UserError when it does not exist or is not HDF5.
H5Id open_for_reading(const std::filesystem::path& path);

/// Runs `steps`, which read the file `path`. HDF5 errors become UserError.
template <class Steps>
auto reading(const std::filesystem::path& path, Steps steps) {
  try {
    return steps();
  } catch (const UserError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "' is damaged: " + e.what());
  }
}

}  // namespace eventloom
