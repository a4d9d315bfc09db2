#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eventloom {

/// Memory still available to this process under one bound.
struct MemoryBound {
  std::string what;         ///< "available on the host", "left by the memory limit of the cgroup /job_7", ...
  std::uint64_t bytes = 0;  ///< still available
  bool of_process = false;  ///< applies to this process alone; otherwise processes with the same bound on one host
                            ///< share it
};

/// All bounds that can be found: the host's available memory, limits of cgroups (versions 1 and 2, of the group and its
/// ancestors), and the limit of the address space. `root`: file system to examine.
std::vector<MemoryBound> memory_there_is(const std::filesystem::path& root = "/");

/// The tightest bound; std::nullopt for an empty list.
std::optional<MemoryBound> least_of(const std::vector<MemoryBound>& bounds);

/// Peak resident memory of this process, including shared pages.
std::uint64_t peak_bytes();

/// Current resident memory of this process; 0 if unknown.
std::uint64_t resident_bytes();

/// Formats as "512 MiB", "9216 MiB", "12 GiB": rounded up to whole units.
std::string in_mebibytes(std::uint64_t bytes);

}  // namespace eventloom
