#include "io/hdf5/output_file.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

/// Chunks begin at multiples of the page size; small pieces of metadata stay packed.
constexpr hsize_t kAlignFrom = 64 << 10;
constexpr hsize_t kAlignment = 4096;

/// 0, or the number of the error.
int sync_path(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  // Some file systems cannot sync a directory; then the rename is as safe as they make it.
  return (flags & O_DIRECTORY) != 0 && error == EINVAL ? 0 : error;
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), partial_(path_.string() + ".partial"), id_(create()) {}

H5Id OutputFile::create() {
  const H5Id access(check(H5Pcreate(H5P_FILE_ACCESS), "creating a property list"), H5Pclose);
  // 1.10 is the oldest format with an index for chunks of growing datasets that needs no tree, and
  // with attributes above 64 KiB.
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "setting the format version");
  check(H5Pset_alignment(access.get(), kAlignFrom, kAlignment), "setting the alignment");
  use_file_driver(access.get(), status_);
  const hid_t id = H5Fcreate(partial_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
  if (id < 0) {
    throw UserError("cannot create '" + partial_.string() +
                    "': " + (status_.error != 0 ? std::strerror(status_.error) : hdf5_reason()));
  }
  return H5Id(id, H5Fclose);
}

OutputFile::~OutputFile() {
  if (published_) return;
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

void OutputFile::publish() {
  if (const int error = sync_path(partial_, O_RDONLY); error != 0) fail(error);
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  published_ = true;
  const auto folder = path_.parent_path();
  if (const int error = sync_path(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY); error != 0) fail(error);
}

void OutputFile::fail(int error) const {
  throw UserError("cannot write '" + partial_.string() + "': " + std::strerror(error));
}

}  // namespace eventloom
