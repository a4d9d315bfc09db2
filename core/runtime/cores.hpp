#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace eventloom {

/// Hardware threads that this process may run on, ascending; empty if unknown.
std::vector<int> allowed_cpus();

/// Names of the cores of these hardware threads. If the system does not report the topology, each thread counts as a
/// core. `root`: file system to examine.
std::set<std::string> cores_of(const std::vector<int>& cpus, const std::filesystem::path& root = "/");

/// The hardware threads among `cpus` that belong to the core of this name.
std::vector<int> cpus_of(const std::string& core, const std::vector<int>& cpus,
                         const std::filesystem::path& root = "/");

/// Formats 0, 1 and 4 as "0-1,4".
std::string ranges_of(const std::vector<int>& rising);

/// Number of processes on a host that cannot have a core to themselves even in the best assignment. Each process is
/// given by the cores it may use; one whose cores are unknown (none) is not counted.
std::size_t without_core(const std::vector<std::set<std::string>>& processes);

/// A core for each process in the best assignment, given as above; empty for processes without one.
std::vector<std::string> core_of_each(const std::vector<std::set<std::string>>& processes);

}  // namespace eventloom
