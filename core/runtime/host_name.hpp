#pragma once

#include <string>

namespace eventloom {

/// Name of this host, as known to its kernel.
std::string host_name();
/// Returns "rank 1 on n1: ", for messages of one rank of `size`; empty if it is the only one.
std::string name_of_rank(int rank, int size);

}  // namespace eventloom
