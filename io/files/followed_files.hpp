#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/files/descriptor.hpp"
#include "io/files/input_handle.hpp"

namespace eventloom {

/// The files of a source that is followed while they are written: those that match a path or pattern, new ones
/// included, in the natural order of their names. Data are only appended to the last of them.
///
/// The source ends when all is read and the writer has created the end mark of the last file: an empty file beside it
/// named like it up to the first dot, and `.end` ("run_0042.end" for "run_0042.lmd").
///
/// One thread reads; any thread may call stop() and stopped().
class FollowedFiles {
 public:
  explicit FollowedFiles(std::string pattern);

  [[nodiscard]] const std::string& pattern() const { return pattern_; }
  /// The file after `path`, in order; the first one for an empty path. std::nullopt if there is none.
  [[nodiscard]] std::optional<std::string> next_after(const std::string& path) const;
  /// Whether nothing more will be appended to the file: a later one or its end mark exists.
  [[nodiscard]] bool is_final(const std::string& path) const;

  /// Waits until something may have changed, at most 20 ms: the kernel reports changes by processes on this host.
  void wait();

  /// Ends the source after the data that have been read.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  std::string pattern_;
  Descriptor changes_;  ///< inotify; none if the system has no more
  std::atomic<bool> stopped_ = false;
};

/// Why `file`, of which `known` bytes had been found, cannot be followed any more: it has become shorter, or was
/// replaced or removed. Empty if it can. `is_final`: it may have been removed, since nothing more is awaited from it.
std::string follow_defect(const InputHandle& file, std::uint64_t known, bool is_final);

using Followed = std::shared_ptr<FollowedFiles>;

}  // namespace eventloom
