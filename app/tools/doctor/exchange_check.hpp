#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"
#include "core/mpi/exchange_backend.hpp"

namespace eventloom {

/// The components of a rank's exchange.
struct ExchangeParts {
  std::string mpi;  ///< versions
  std::string ucx;
  ExchangeBackend backend;
  std::vector<std::string> variables = {};  ///< variables that chose components other than UCX for this process
  bool own_namespaces = false;              ///< see in_own_namespaces()
  std::string proc_link = "y";              ///< UCX_POSIX_USE_PROC_LINK
};

/// Returns the parts of this process.
ExchangeParts exchange_parts();

/// The finding if MPI does not start. `variables`: the user's variables that configure MPI and UCX.
Finding no_mpi(const ExchangeParts& parts, const std::vector<std::string>& variables);

/// Checks one of `hosts` hosts. `root`: root of the file system to search for RDMA hardware.
std::vector<Finding> check_exchange(const ExchangeParts& parts, std::size_t hosts,
                                    const std::filesystem::path& root = "/");

/// Whether the host has an RDMA device.
bool has_rdma(const std::filesystem::path& root);

/// Returns a warning if the hosts' findings on MPI name different versions.
std::vector<Finding> check_agreement(const std::vector<Finding>& merged);

}  // namespace eventloom
