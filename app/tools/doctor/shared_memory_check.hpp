#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Checks the room in /dev/shm for `ranks` ranks on this host.
Finding shared_memory_room(std::uint64_t capacity, std::uint64_t available, std::size_t ranks);

/// Returns a phrase about what may keep MPI from starting `ranks` ranks on this host; empty: nothing.
std::string too_little_to_start(std::size_t ranks, const std::filesystem::path& root = "/");

/// Returns this user's files in /dev/shm below `root` that have names used by MPI or UCX, are older than a minute, and
/// are neither open nor mapped in any process; sorted.
std::vector<std::filesystem::path> leftovers_in(const std::filesystem::path& root);

/// Checks shared memory on this host.
std::vector<Finding> check_shared_memory(std::size_t ranks, const std::filesystem::path& root = "/");

}  // namespace eventloom
