#pragma once

#include <H5Ipublic.h>

#include <string_view>

namespace eventloom {

/// First bytes of a file until all else has been written: HDF5 writes its own before other metadata, and a process that
/// is killed in between would leave a file that nobody can open nor knows for ours.
inline constexpr std::string_view kInTheMaking = "eventloom: an HDF5 file that is being written\n";

/// Result of the writes to one file.
struct WriteStatus {
  /// 0, or the number of the first error. Once it is set, nothing more is written.
  int error = 0;
};

/// Makes HDF5 create its file, with the access list `access`, as the open, new file behind `descriptor`, which the
/// caller keeps, through a driver of our own: plain POSIX calls that never report a failed write to HDF5, which does
/// not survive it (1.10 crashes in H5Fclose), but keep the error in `status`. Check it after each call that may write
/// and after H5Fclose. `status` must outlive the file.
void use_file_driver(hid_t access, int descriptor, WriteStatus& status);

}  // namespace eventloom
