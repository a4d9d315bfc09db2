#include "io/hdf5/hdf5_version.hpp"

#include <hdf5.h>

#include "core/runtime/format.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  check(H5get_libversion(&major, &minor, &release), "asking for the version of HDF5");
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace eventloom
