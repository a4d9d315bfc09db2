#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"
#include "core/mpi/environment.hpp"

namespace eventloom {

/// What the exchange of a rank is made of.
struct ExchangeParts {
  std::string mpi;  ///< versions
  std::string ucx;
  ExchangeBackend backend;
  std::vector<std::string> variables = {};  ///< by which this process was given other components than UCX
};

/// Of this process.
ExchangeParts exchange_parts();

/// MPI does not start at all. `variables`: those of the user that set it up.
Finding no_mpi(const ExchangeParts& parts, const std::vector<std::string>& variables);

/// Of one of `hosts` hosts. `root`: of the file system to examine for RDMA hardware.
std::vector<Finding> check_exchange(const ExchangeParts& parts, std::size_t hosts,
                                    const std::filesystem::path& root = "/");

/// Whether the host has a device for RDMA.
bool has_rdma(const std::filesystem::path& root);

/// A warning when the findings on MPI of the hosts say different versions.
std::vector<Finding> check_agreement(const std::vector<Finding>& merged);

}  // namespace eventloom
