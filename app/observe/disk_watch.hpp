#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

namespace eventloom {

/// The file system that a run writes to.
struct DiskFigures {
  std::optional<double> free_bytes;  ///< available to this user; not set: unknown
  std::optional<double> left_s;      ///< until it is full, at the last minute's rate; not set: it is not filling up
};

/// Monitors the free space of a folder's file system, which other programs may also fill.
class DiskWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit DiskWatch(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Call about once a second.
  DiskFigures look(Time now);
  /// Likewise for a known free space.
  DiskFigures add(Time now, double free_bytes);

 private:
  struct Look {
    Time time;
    double free_bytes = 0;
  };

  std::filesystem::path folder_;
  std::deque<Look> looks_;  ///< those of the last minute, and one before it
};

}  // namespace eventloom
