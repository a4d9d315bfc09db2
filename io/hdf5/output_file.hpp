#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "io/files/partial_file.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// An HDF5 file in the making: a PartialFile until it is whole and on disk, so that nothing half-written ever has a
/// final name.
///
/// Datasets and groups in it must be closed before the file is closed or destroyed.
class OutputFile {
 public:
  /// Creates the partial file, in `scratch` when that is given: it is then copied to its place by
  /// publish(). Throws UserError when it cannot be created, or when its place has anything but an output of Eventloom.
  explicit OutputFile(std::filesystem::path path, const std::filesystem::path& scratch = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] hid_t id() const { return id_.get(); }

  /// Throws UserError with the file's name and the operating system's reason when a write to the
  /// file has failed. HDF5 itself does not notice: see use_file_driver().
  void expect_written() const {
    if (status_.error != 0) fail(status_.error);
  }

  /// Runs `steps`, which make HDF5 calls on the file; failures that come of a failed write are
  /// reported as such.
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

  /// Writes what HDF5 still holds and closes the file; the disk may not have it yet. Returns its size in bytes.
  std::uint64_t close();
  /// After close(): waits until the file is on disk and gives it its final name, replacing what had
  /// it before. Makes no HDF5 calls, so that it may run beside the thread that makes them.
  /// `when_on_disk` is called in between: whatever happens after it, the file can still get its name.
  void publish(const std::function<void()>& when_on_disk = {});

 private:
  H5Id create();
  void copy_from_scratch();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::unique_ptr<PartialFile> partial_;  ///< what is written to
  WriteStatus status_;
  H5Id id_;
};

}  // namespace eventloom
