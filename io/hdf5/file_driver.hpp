#pragma once

#include <H5Ipublic.h>

#include <string_view>

namespace eventloom {

/// What a file begins with until HDF5 writes its own first bytes, which it does last.
inline constexpr std::string_view kInTheMaking = "eventloom: an HDF5 file that is being written\n";

/// What became of the writes to one file.
struct WriteStatus {
  /// 0, or the number of the first error. Once it is set, nothing more goes to the file.
  int error = 0;
};

/// Makes the file that is created with the access list `access` be the open, new one behind `descriptor`, which
/// stays the caller's, and go through a driver of our own: plain POSIX calls that never report a failed write to HDF5,
/// which does not survive it (1.10 crashes in H5Fclose), but keep the error in `status`. Look there after each call
/// that may write and after H5Fclose. `status` must outlive the file.
void use_file_driver(hid_t access, int descriptor, WriteStatus& status);

}  // namespace eventloom
