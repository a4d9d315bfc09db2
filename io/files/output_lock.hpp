#pragma once

#include <filesystem>

#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Keeps an output, possibly of many files and ranks, to one run of the program: `<output>.lock` exists as long as this
/// lives. The file of a process that died locks nothing. On a file system without locks it does not keep others out.
class OutputLock {
 public:
  /// Waits for some seconds when another process holds the lock: an interrupted run may still be ending. Throws
  /// UserError that names the holder, when a foreign file has the lock's name, and when no lock can be created.
  explicit OutputLock(const std::filesystem::path& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  static std::filesystem::path place_for(const std::filesystem::path& output);
  /// Whether a file is such a lock.
  static bool is_lock(const std::filesystem::path& file);

 private:
  bool take(Recognise ours);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace eventloom
