#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "io/files/descriptor.hpp"
#include "io/files/partial_file.hpp"
#include "io/hdf5/file_driver.hpp"
#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Other folders for a file that is being written.
struct OutputFolders {
  std::filesystem::path scratch = {};  ///< holds the file until it is complete and copied to its place; empty: none
  /// Holds the file when the disk of its place is full; a link in its place then leads to it. An absolute path,
  /// see folder_within(); empty: none.
  std::filesystem::path next = {};
  bool full = false;  ///< the disk of its place is known to be full
  /// Runs the step that creates the link, and makes space for it if the disk is full.
  std::function<void(const std::function<void()>&)> with_space = [](const auto& step) { step(); };
};

/// An HDF5 file that is being written. It is a PartialFile until it is complete and on disk, so that no incomplete file
/// ever has a final name.
///
/// Close its datasets and groups before it is closed or destroyed.
class OutputFile {
 public:
  /// Creates the partial file. Throws UserError when it cannot be created, or when a file that is not an output of
  /// Eventloom has its final name.
  explicit OutputFile(std::filesystem::path path, OutputFolders folders = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] hid_t id() const { return id_.get(); }
  /// Whether the file is in the next folder, since its own disk is full.
  [[nodiscard]] bool is_moved() const { return moved_; }

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
  std::unique_ptr<PartialFile> begin();
  H5Id create();
  std::unique_ptr<PartialFile> begin_in_next();
  int move();
  void copy_from_scratch();
  void link_and_publish(const std::function<void()>& when_on_disk);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  OutputFolders folders_;
  bool moved_ = false;
  /// Opened before anything was written: only such a descriptor reports every write that failed after it had returned.
  Descriptor witness_;
  WriteStatus status_;
  std::unique_ptr<PartialFile> partial_;  ///< the file being written
  H5Id id_;
};

}  // namespace eventloom
