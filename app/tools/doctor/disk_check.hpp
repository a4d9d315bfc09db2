#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// The folder of an output, as tried out with a file without a name, of which nothing is left.
struct DiskTrial {
  int error = 0;                 ///< errno of what prevents writing; 0: nothing
  std::uint64_t free_bytes = 0;  ///< for this user
  double bytes_per_s = 0;        ///< onto the disk, not into the page cache; 0: not measured
  bool locks = false;            ///< a second opener is kept out
  std::filesystem::path folder = {};
};

/// `output`: a folder, or a file in it. Writes at most 256 MiB and a quarter of the free space, and takes not much
/// longer than two seconds on a disk that answers.
DiskTrial try_disk(const std::filesystem::path& output);
/// The same; nothing when there is no answer within `limit`. Then a thread is left that waits for the disk.
std::optional<DiskTrial> try_disk_within(const std::filesystem::path& output, std::chrono::milliseconds limit);

std::vector<Finding> disk_findings(const std::filesystem::path& output, const std::optional<DiskTrial>& trial);

}  // namespace eventloom
