#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// The room in /dev/shm for `ranks` ranks of this host.
Finding shared_memory_room(std::uint64_t capacity, std::uint64_t available, std::size_t ranks);

/// What may keep MPI from starting `ranks` ranks on this host, in one phrase; empty: nothing.
std::string too_little_to_start(std::size_t ranks, const std::filesystem::path& root = "/");

/// Files in /dev/shm below `root` with names that MPI and UCX use, of this user, older than a minute, which no process
/// has open or mapped; sorted.
std::vector<std::filesystem::path> leftovers_in(const std::filesystem::path& root);

/// Of this host.
std::vector<Finding> check_shared_memory(std::size_t ranks, const std::filesystem::path& root = "/");

}  // namespace eventloom
