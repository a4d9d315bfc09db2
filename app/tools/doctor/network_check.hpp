#pragma once

#include <filesystem>
#include <vector>

#include "app/tools/doctor/findings.hpp"

namespace eventloom {

/// Checks the receive buffers of sockets on this host.
std::vector<Finding> check_network(const std::filesystem::path& root = "/");

}  // namespace eventloom
