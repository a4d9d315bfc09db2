#pragma once

#include <string>

namespace eventloom {

/// Name of this host, as its kernel knows it.
std::string host_name();
/// "rank 1 on n1: ", for messages of one rank of `size`; empty where it is the only one.
std::string name_of_rank(int rank, int size);

}  // namespace eventloom
