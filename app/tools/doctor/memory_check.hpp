#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// `limit`: limit of locked memory; std::nullopt: unlimited. RDMA locks the windows of a rank.
Finding locked_memory(std::optional<std::uint64_t> limit, bool rdma);

/// Checks memory, locked memory and huge pages of this host.
std::vector<Finding> check_memory(const std::filesystem::path& root = "/");

}  // namespace eventloom
