#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "io/files/descriptor.hpp"

/// UDP sockets at 127.0.0.1.
namespace eventloom {

sockaddr_in loopback_address(std::uint16_t port);

/// Returns a socket with a free port. Throws UserError.
Descriptor bound_at_loopback();

std::uint16_t port_of(const Descriptor& socket);

/// The socket sends to this port, and receives only from there. Throws UserError.
void connect_at_loopback(const Descriptor& socket, std::uint16_t port);

}  // namespace eventloom
