#include "io/hdf5/output_file.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/files/disk_full.hpp"
#include "io/files/durable.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"

namespace eventloom {

namespace {

/// Aligns chunks to pages; small pieces of metadata stay packed.
constexpr hsize_t kAlignFrom = 64 << 10;
constexpr hsize_t kAlignment = 4096;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, OutputFolders folders)
    : path_(std::move(path)), folders_(std::move(folders)), partial_(begin()), id_(create()) {}

std::unique_ptr<PartialFile> OutputFile::begin() {
  const bool may_move = !folders_.next.empty();
  if (!folders_.scratch.empty()) {
    return std::make_unique<PartialFile>(folders_.scratch / path_.filename(), is_own_hdf5);
  }
  if (may_move && folders_.full) return begin_in_next();
  try {
    auto in_place = std::make_unique<PartialFile>(path_, is_own_hdf5);
    if (!may_move) return in_place;
    witness_ = Descriptor(::open(in_place->path().c_str(), O_RDONLY | O_CLOEXEC));
    status_.move = [this] { return move(); };
    return in_place;
  } catch (const DiskFull&) {
    if (!may_move) throw;
    return begin_in_next();
  }
}

std::unique_ptr<PartialFile> OutputFile::begin_in_next() {
  refuse_foreign(path_, is_own_hdf5);
  auto file = std::make_unique<PartialFile>(folders_.next / path_.filename(), is_own_hdf5);
  moved_ = true;
  return file;
}

/// See WriteStatus. A file system that writes later may have lost data already: that file stays where it is, and fails.
int OutputFile::move() {
  try {
    if (moved_ || !witness_.is_open() || ::fsync(witness_.number()) != 0) return -1;
    auto copy = begin_in_next();
    copy->copy_from(partial_->path(), kInTheMaking);
    partial_ = std::move(copy);
    witness_.reset();
    return partial_->descriptor();
  } catch (const UserError& error) {
    log::warn("{}", error.what());
    moved_ = false;
    return -1;
  }
}

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
  if (!folders_.scratch.empty()) copy_from_scratch();
  partial_->sync();
  if (moved_) return link_and_publish(when_on_disk);
  if (when_on_disk) when_on_disk();
  partial_->publish();
}

/// The link takes the names that the file would have in its place.
void OutputFile::link_and_publish(const std::function<void()>& when_on_disk) {
  partial_->publish();
  const std::filesystem::path link = path_.string() + kPartial;
  remove_leftover(link, is_own_hdf5);
  folders_.with_space([&] { link_to_moved(folders_.next / path_.filename(), link); });
  if (when_on_disk) when_on_disk();
  if (rename_to_free_name(link, path_)) return;
  throw UserError("'" + path_.string() + "' was created by another process meanwhile; it is left as it is, and '" +
                  link.string() + "' leads to the output");
}

/// The copy begins with the mark of a file that is being written until all else is on disk.
void OutputFile::copy_from_scratch() {
  const auto copy_to = [this](std::unique_ptr<PartialFile> file) {
    file->copy_from(partial_->path(), kInTheMaking);
    partial_ = std::move(file);
  };
  try {
    if (!folders_.full) return copy_to(std::make_unique<PartialFile>(path_, is_own_hdf5));
  } catch (const DiskFull&) {
    if (folders_.next.empty()) throw;
  }
  copy_to(begin_in_next());
}

void OutputFile::fail(int error) const {
  throw UserError("cannot write '" + partial_->path().string() + "': " + std::strerror(error));
}

}  // namespace eventloom
