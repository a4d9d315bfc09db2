#pragma once

#include <cstdint>

namespace eventloom {

/// Rate that the driver states for the network device that has the local address of a connected socket, bytes per
/// second; 0: unknown, as for the loopback and most virtual devices.
std::uint64_t link_rate_of(int socket);

}  // namespace eventloom
