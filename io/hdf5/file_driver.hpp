#pragma once

#include <H5Ipublic.h>

#include <functional>
#include <string_view>

namespace eventloom {

/// First bytes of a file until everything else has been written. HDF5 writes its signature before other metadata, so a
/// process killed in between would leave a file that cannot be opened or recognised as ours.
inline constexpr std::string_view kInTheMaking = "eventloom: an HDF5 file that is being written\n";

/// Result of the writes to one file.
struct WriteStatus {
  /// Called when the disk is full: copies the file to another disk. Returns the descriptor of the copy, which the
  /// caller owns, or a negative number if there is none. Must not throw.
  std::function<int()> move = [] { return -1; };
  /// 0, or the errno of the first error. Nothing is written after an error.
  int error = 0;
};

/// Makes HDF5 create a file with the access list `access` on `descriptor`, an open, new file that the caller still
/// owns. Our own driver, of plain POSIX calls, never reports a failed write to HDF5, since 1.10 then crashes in
/// H5Fclose; it keeps the error in `status`. Check `status` after each call that may write and after H5Fclose; `status`
/// must outlive the file.
void use_file_driver(hid_t access, int descriptor, WriteStatus& status);

}  // namespace eventloom
