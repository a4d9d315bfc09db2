#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Result of a trial of an output folder with a nameless file, which leaves no trace.
struct DiskTrial {
  int error = 0;                 ///< errno of the error that prevents writing; 0: none
  std::uint64_t free_bytes = 0;  ///< free space for this user
  double bytes_per_s = 0;        ///< rate to the disk, not to the page cache; 0: not measured
  bool locks = false;            ///< whether a lock excludes a second opener
  std::filesystem::path folder = {};
};

/// `output`: a folder, or a file in it. Writes at most 256 MiB and at most a quarter of the free space. Takes little
/// more than two seconds if the disk responds.
DiskTrial try_disk(const std::filesystem::path& output);
/// Like try_disk(), but returns std::nullopt if the disk does not respond within `limit`. A thread then remains,
/// waiting for the disk.
std::optional<DiskTrial> try_disk_within(const std::filesystem::path& output, std::chrono::milliseconds limit);

std::vector<Finding> disk_findings(const std::filesystem::path& output, const std::optional<DiskTrial>& trial);

}  // namespace eventloom
