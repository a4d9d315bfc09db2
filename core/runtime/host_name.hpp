#pragma once

#include <string>

namespace eventloom {

/// Of this host, as its kernel knows it.
std::string host_name();

}  // namespace eventloom
