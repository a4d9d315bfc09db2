#pragma once

#include <string>

namespace eventloom {

/// Name of this host, as known to its kernel.
std::string host_name();
/// Identifies the running kernel of this host. Containers and network namespaces of one machine may have different host
/// names, but have the same kernel. Empty if the system does not say.
std::string kernel_id();
/// Returns "rank 1 on n1: ", for messages of one rank of `size`; empty if it is the only one.
std::string name_of_rank(int rank, int size);

}  // namespace eventloom
