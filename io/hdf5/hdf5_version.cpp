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

std::string with_remedy(std::string reason) {
  if (reason.find("bad version number for") == std::string::npos) return reason;
  return reason + ": this HDF5 " + hdf5_version() +
         " cannot read what a newer one, such as HDF5 2, writes with libver='latest'; write the file again with h5py "
         "3.16 or later and without libver=, each dataset by create_dataset(NAME, data=OLD[NAME][()]), since copy() "
         "keeps the new form";
}

}  // namespace eventloom
