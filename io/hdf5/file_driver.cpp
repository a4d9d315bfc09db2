#include "io/hdf5/file_driver.hpp"

#include <fcntl.h>
#include <hdf5.h>
#if H5_VERSION_GE(1, 12, 1)
#include <H5FDdevelop.h>
#endif
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "io/files/disk_full.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

namespace {

/// The driver's data in the access list.
struct DriverInfo {
  int descriptor;
  WriteStatus* status;
};

/// HDF5 passes the address of `base`, so it must be the first member.
struct DriverFile {
  H5FD_t base{};
  int file = -1;
  std::array<char, kInTheMaking.size()> head{};  ///< written last, when the file closes
  haddr_t allocated = 0;
  haddr_t end = 0;
  WriteStatus* status = nullptr;
};

constexpr haddr_t kMaxAddress = (haddr_t{1} << 63) - 1;

DriverFile& of(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file); }
const DriverFile& of(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file); }

/// Continues with a copy of the file on another disk, if there is one.
bool continue_elsewhere(const DriverFile& file) {
  const int copy = file.status->move();
  return copy >= 0 && ::dup3(copy, file.file, O_CLOEXEC) >= 0;
}

/// Keeps the first error in the file's status and writes nothing after it.
void put(const DriverFile& file, const char* from, std::size_t size, haddr_t address) {
  while (size > 0 && file.status->error == 0) {
    const ssize_t n = ::pwrite(file.file, from, size, static_cast<off_t>(address));
    if (n < 0) {
      const int error = errno;
      if (error != EINTR && !(means_full(error) && continue_elsewhere(file))) file.status->error = error;
      continue;
    }
    from += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
}

/// HDF5 first probes whether the file exists; only a call that creates it succeeds.
H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr || (flags & H5F_ACC_CREAT) == 0) return nullptr;
  auto opened = std::make_unique<DriverFile>();
  opened->status = info->status;
  opened->file = ::fcntl(info->descriptor, F_DUPFD_CLOEXEC, 0);
  info->status->error = opened->file < 0 ? errno : 0;
  if (opened->file < 0) return nullptr;
  put(*opened, kInTheMaking.data(), kInTheMaking.size(), 0);
  if (info->status->error == 0) return &opened.release()->base;
  ::close(opened->file);
  return nullptr;
}

/// Number of the bytes from `address` that lie in the head.
std::size_t head_part(const DriverFile& file, haddr_t address, std::size_t size) {
  return address >= file.head.size() ? 0 : std::min<std::size_t>(size, file.head.size() - address);
}

herr_t close_file(H5FD_t* base) {
  const std::unique_ptr<DriverFile> file(&of(base));
  put(*file, file->head.data(), file->head.size(), 0);
  if (::close(file->file) != 0 && file->status->error == 0) file->status->error = errno;
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  if (a == b) return 0;
  return std::less<>{}(a, b) ? -1 : 1;
}

/// The flags of HDF5's own POSIX driver, which reads the files written here.
herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_allocated(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }

herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  of(file).allocated = address;
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t) { return of(file).end; }

/// Returns the descriptor as HDF5's own driver does: FileBytes reads from it.
herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
  *handle = &of(file).file;
  return 0;
}

/// Bytes never written read as zeros.
herr_t read_file(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const auto& file = of(base);
  auto* to = static_cast<char*>(buffer);
  const std::size_t in_head = head_part(file, address, size);
  if (in_head > 0) std::memcpy(to, file.head.data() + address, in_head);
  to += in_head;
  address += in_head;
  size -= in_head;
  while (size > 0) {
    const ssize_t n = ::pread(file.file, to, size, static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    to += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<std::size_t>(n);
  }
  std::memset(to, 0, size);
  return 0;
}

herr_t write_file(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  auto& file = of(base);
  file.end = std::max(file.end, address + size);
  const auto* from = static_cast<const char*>(buffer);
  const std::size_t in_head = head_part(file, address, size);
  if (in_head > 0) std::memcpy(file.head.data() + address, from, in_head);
  put(file, from + in_head, size - in_head, address + in_head);
  return 0;
}

herr_t truncate_file(H5FD_t* base, hid_t, hbool_t) {
  auto& file = of(base);
  if (file.end == file.allocated) return 0;
  if (file.status->error == 0 && ::ftruncate(file.file, static_cast<off_t>(file.allocated)) != 0) {
    file.status->error = errno;
  }
  file.end = file.allocated;
  return 0;
}

hid_t register_driver() {
  static constexpr H5FD_mem_t kFreeLists[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  static H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // free for private use
#endif
  driver.name = "eventloom";
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = query;
  driver.get_eoa = get_allocated;
  driver.set_eoa = set_allocated;
  driver.get_eof = get_end;
  driver.get_handle = get_handle;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  std::copy(std::begin(kFreeLists), std::end(kFreeLists), driver.fl_map);
  return check(H5FDregister(&driver), "registering the file driver");
}

}  // namespace

void use_file_driver(hid_t access, int descriptor, WriteStatus& status) {
  static const hid_t driver = register_driver();
  const DriverInfo info{descriptor, &status};
  check(H5Pset_driver(access, driver, &info), "setting the file driver");
}

}  // namespace eventloom
