#pragma once

#include <filesystem>

#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Reserves an output, possibly of many files and ranks, for one run: `<output>.lock` exists for this object's
/// lifetime. A file left by a dead process locks nothing. On a file system without locks, other runs are not kept out.
class OutputLock {
 public:
  /// Waits for some seconds while another process holds the lock, since an interrupted run may still be ending. Throws
  /// UserError that names the holder; also when a foreign file has the lock's name, and when no lock can be created.
  explicit OutputLock(const std::filesystem::path& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  static std::filesystem::path place_for(const std::filesystem::path& output);
  /// Whether a file is such a lock file.
  static bool is_lock(const std::filesystem::path& file);

 private:
  bool take(Recognise ours);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace eventloom
