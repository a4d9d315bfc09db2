#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eventloom {

/// Memory that this process can still get, according to one of its bounds.
struct MemoryBound {
  std::string what;         ///< "available on the host", "left by the memory limit of the cgroup /job_7", ...
  std::uint64_t bytes = 0;  ///< still available
  bool of_process = false;  ///< of this process alone; otherwise processes with the same bound on one host share it
};

/// All bounds that can be found: the host's available memory, limits of cgroups (version 1 and 2, of the group and its
/// ancestors), and the limit of the address space. `root`: of the file system to examine.
std::vector<MemoryBound> memory_there_is(const std::filesystem::path& root = "/");

/// The tightest bound; nothing for an empty list.
std::optional<MemoryBound> least_of(const std::vector<MemoryBound>& bounds);

/// Peak resident memory of this process, shared pages included.
std::uint64_t peak_bytes();

/// Resident memory of this process now; 0 where the system does not say.
std::uint64_t resident_bytes();

/// "512 MiB", "9216 MiB", "12 GiB": rounded up to whole units.
std::string in_mebibytes(std::uint64_t bytes);

}  // namespace eventloom
