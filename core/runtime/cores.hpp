#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace eventloom {

/// Hardware threads this process may run on, rising; empty when unknown.
std::vector<int> allowed_cpus();

/// The cores of these hardware threads, by name. Where the system does not tell, each thread counts as a core. `root`:
/// of the file system to examine.
std::set<std::string> cores_of(const std::vector<int>& cpus, const std::filesystem::path& root = "/");

/// "0-1,4" for 0, 1 and 4.
std::string ranges_of(const std::vector<int>& rising);

/// Of the processes of a host, given by the cores that each may use, those that cannot have a core to themselves, even
/// if the cores are shared out in the best way. A process whose cores are unknown (none) is not counted.
std::size_t without_core(const std::vector<std::set<std::string>>& processes);

}  // namespace eventloom
