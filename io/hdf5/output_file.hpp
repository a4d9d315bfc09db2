#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "io/files/partial_file.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// An HDF5 file that is being written. It is a PartialFile until it is complete and on disk, so that no incomplete file
/// ever has a final name.
///
/// Close its datasets and groups before it is closed or destroyed.
class OutputFile {
 public:
  /// Creates the partial file, in `scratch` if given; publish() then copies it to its place. Throws UserError when it
  /// cannot be created, or when a file that is not an output of Eventloom has its final name.
  explicit OutputFile(std::filesystem::path path, const std::filesystem::path& scratch = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] hid_t id() const { return id_.get(); }

  /// Throws UserError with the file's name and the system's reason when a write to the file has failed. HDF5 itself
  /// does not notice: see use_file_driver().
  void expect_written() const {
    if (status_.error != 0) fail(status_.error);
  }

  /// Runs `steps`, which make HDF5 calls on the file. A failure caused by a failed write is reported as such.
  template <class Steps>
  void fill(Steps steps) const {
    try {
      steps();
    } catch (...) {
      expect_written();
      throw;
    }
    expect_written();
  }

  /// Writes HDF5's buffers and closes the file, which may not be on disk yet. Returns its size in bytes.
  std::uint64_t close();
  /// Call after close(). Waits until the file is on disk and renames it to its final name, replacing an earlier file.
  /// Makes no HDF5 calls, so it may run concurrently with the thread that makes them. Calls `when_on_disk` before
  /// renaming: whatever happens afterwards, the file can still be renamed.
  void publish(const std::function<void()>& when_on_disk = {});

 private:
  H5Id create();
  void copy_from_scratch();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::unique_ptr<PartialFile> partial_;  ///< the file being written
  WriteStatus status_;
  H5Id id_;
};

}  // namespace eventloom
