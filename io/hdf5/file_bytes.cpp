#include "io/hdf5/file_bytes.hpp"

#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "io/hdf5/handle.hpp"

namespace eventloom {

FileBytes::FileBytes(hid_t file) {
  void* handle = nullptr;
  check(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), "asking for the descriptor of a file");
  descriptor_ = *static_cast<const int*>(handle);
}

std::string FileBytes::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? "the file ends before its data" : std::strerror(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

}  // namespace eventloom
