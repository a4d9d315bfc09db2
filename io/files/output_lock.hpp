#pragma once

#include <filesystem>

#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Keeps an output, of many files and ranks maybe, to one run of the program: `<output>.lock`, which is there as long
/// as this lives. What a process that died has left of it locks nothing. Where the file system has no locks, it does
/// not keep others away.
class OutputLock {
 public:
  /// Waits for some seconds when another process has the lock: those of an interrupted run may still be ending. Throws
  /// UserError that names the holder, when what has the lock's name is none, and when no lock can be made.
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
