#include "io/hdf5/output_file.hpp"

#include <hdf5.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"

namespace eventloom {

namespace {

/// Aligns chunks to pages; small pieces of metadata stay packed.
constexpr hsize_t kAlignFrom = 64 << 10;
constexpr hsize_t kAlignment = 4096;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, const std::filesystem::path& scratch)
    : path_(std::move(path)),
      partial_(std::make_unique<PartialFile>(scratch.empty() ? path_ : scratch / path_.filename(), is_own_hdf5)),
      id_(create()) {}

H5Id OutputFile::create() {
  const H5Id access(check(H5Pcreate(H5P_FILE_ACCESS), "creating a property list"), H5Pclose);
  // 1.10 is the oldest format that has attributes above 64 KiB and indexes the chunks of growing datasets without a
  // tree.
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), "setting the format version");
  check(H5Pset_alignment(access.get(), kAlignFrom, kAlignment), "setting the alignment");
  use_file_driver(access.get(), partial_->descriptor(), status_);
  const H5Id creation = timeless_list(H5P_FILE_CREATE);
  const hid_t id = H5Fcreate(partial_->path().c_str(), H5F_ACC_TRUNC, creation.get(), access.get());
  if (id < 0) {
    throw UserError("cannot create '" + partial_->path().string() +
                    "': " + (status_.error != 0 ? std::strerror(status_.error) : hdf5_reason()));
  }
  return H5Id(id, H5Fclose);
}

OutputFile::~OutputFile() {
  // HDF5 would still write its metadata on closing, to a file that will be removed.
  if (status_.error == 0) status_.error = ECANCELED;
  id_.reset();
}

std::uint64_t OutputFile::close() {
  expect_written();
  id_.reset();
  expect_written();
  struct stat status {};
  if (::fstat(partial_->descriptor(), &status) != 0) fail(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void OutputFile::publish(const std::function<void()>& when_on_disk) {
  if (partial_->path().parent_path() != path_.parent_path()) copy_from_scratch();
  partial_->sync();
  if (when_on_disk) when_on_disk();
  partial_->publish();
}

/// The copy begins with the mark of a file that is being written until all else is on disk.
void OutputFile::copy_from_scratch() {
  auto in_place = std::make_unique<PartialFile>(path_, is_own_hdf5);
  in_place->copy_from(partial_->path(), kInTheMaking);
  partial_ = std::move(in_place);
}

void OutputFile::fail(int error) const {
  throw UserError("cannot write '" + partial_->path().string() + "': " + std::strerror(error));
}

}  // namespace eventloom
