#include "io/hdf5/output_file.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/hdf5/attributes.hpp"

namespace eventloom {

namespace {

/// Chunks begin at multiples of the page size; small pieces of metadata stay packed.
constexpr hsize_t kAlignFrom = 64 << 10;
constexpr hsize_t kAlignment = 4096;

/// Large enough for parallel file systems.
constexpr std::size_t kCopyBlock = std::size_t{8} << 20;

/// 0, or the number of the error.
int sync_path(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  // Some file systems cannot sync a directory; then the rename is as safe as they make it.
  return (flags & O_DIRECTORY) != 0 && error == EINVAL ? 0 : error;
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path, int error) {
  throw UserError("cannot write '" + path.string() + "': " + std::strerror(error));
}

struct Descriptor {
  explicit Descriptor(int n) : number(n) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

void write_all(int file, std::span<const char> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_to_write(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, const std::filesystem::path& scratch)
    : path_(std::move(path)),
      partial_((scratch.empty() ? path_ : scratch / path_.filename()).string() + ".partial"),
      id_(create()) {}

H5Id OutputFile::create() {
  const H5Id access(check(H5Pcreate(H5P_FILE_ACCESS), "creating a property list"), H5Pclose);
  // 1.10 is the oldest format with an index for chunks of growing datasets that needs no tree, and
  // with attributes above 64 KiB.
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "setting the format version");
  check(H5Pset_alignment(access.get(), kAlignFrom, kAlignment), "setting the alignment");
  use_file_driver(access.get(), status_);
  const H5Id creation = timeless_list(H5P_FILE_CREATE);
  const hid_t id = H5Fcreate(partial_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
  if (id < 0) {
    throw UserError("cannot create '" + partial_.string() +
                    "': " + (status_.error != 0 ? std::strerror(status_.error) : hdf5_reason()));
  }
  return H5Id(id, H5Fclose);
}

OutputFile::~OutputFile() {
  if (keep_partial_) return;
  // HDF5 insists on writing its metadata when it closes the file; nobody needs it any more.
  if (status_.error == 0) status_.error = ECANCELED;
  id_.reset();
  std::error_code error;
  std::filesystem::remove(partial_, error);
  if (error) spdlog::warn("cannot remove '{}': {}", partial_.string(), error.message());
}

std::uint64_t OutputFile::close() {
  expect_written();
  id_.reset();
  expect_written();
  return std::filesystem::file_size(partial_);
}

void OutputFile::publish(const std::function<void()>& when_on_disk) {
  if (partial_.parent_path() != path_.parent_path()) copy_from_scratch();
  if (const int error = sync_path(partial_, O_RDONLY); error != 0) fail(error);
  if (when_on_disk) when_on_disk();
  keep_partial_ = true;
  rename_durably(partial_, path_);
}

void OutputFile::copy_from_scratch() {
  const std::filesystem::path place = path_.string() + ".partial";
  const auto scratch = std::exchange(partial_, place);
  std::error_code error;
  try {
    copy_file_durably(scratch, place);
  } catch (...) {
    std::filesystem::remove(scratch, error);
    throw;
  }
  std::filesystem::remove(scratch, error);
  if (error) spdlog::warn("cannot remove '{}': {}", scratch.string(), error.message());
}

void OutputFile::fail(int error) const { fail_to_write(partial_, error); }

void copy_file_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Descriptor in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.number < 0) throw UserError("cannot read '" + from.string() + "': " + std::strerror(errno));
  const Descriptor out(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (out.number < 0) fail_to_write(to, errno);
  std::vector<char> block(kCopyBlock);
  for (;;) {
    const ssize_t n = ::read(in.number, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw UserError("cannot read '" + from.string() + "': " + std::strerror(errno));
    if (n == 0) break;
    write_all(out.number, {block.data(), static_cast<std::size_t>(n)}, to);
  }
  if (::fsync(out.number) != 0) fail_to_write(to, errno);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_to_write(to, errno);
  const auto folder = to.parent_path();
  const int error = sync_path(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (error != 0) fail_to_write(to, error);
}

}  // namespace eventloom
