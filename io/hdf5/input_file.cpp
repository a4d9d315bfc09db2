#include "io/hdf5/input_file.hpp"

#include <hdf5.h>

#include <cerrno>
#include <cstring>

#include "io/files/file_limit.hpp"

namespace eventloom {

namespace {

/// Explains why a file does not open, from errno and HDF5's reason.
std::string why_not(int error, const std::string& reason) {
  if (error == EACCES || error == EMFILE) return std::strerror(error);
  if (reason.find("open for write") != std::string::npos) {
    return "a program still has it open for writing, or ended without closing it; when no program writes any more, "
           "copy the file and mark the copy as closed: h5clear -s COPY";
  }
  if (reason.starts_with("truncated file")) {
    return "it is shorter than it says: not copied completely, or its writer did not close it (" + reason + ")";
  }
  return "not an HDF5 file, or damaged";
}

}  // namespace

H5Id open_for_reading(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    const bool exists = std::filesystem::exists(path, error);
    throw UserError("cannot open '" + path.string() + "': " + (exists ? "it is no regular file" : "no such file"));
  }
  H5Id access(check(H5Pcreate(H5P_FILE_ACCESS), "creating a property list"), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  check(H5Pset_file_locking(access.get(), false, true), "switching off locks");
#endif
  errno = 0;
  H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (file.get() < 0 && errno == EMFILE && raise_file_limit()) {
    file = H5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  }
  if (file.get() >= 0) return file;
  const int code = errno;
  throw UserError("cannot open '" + path.string() + "': " + why_not(code, hdf5_reason()));
}

}  // namespace eventloom
