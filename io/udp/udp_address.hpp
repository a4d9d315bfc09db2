#pragma once

#include <sys/socket.h>

#include <string>

namespace eventloom {

/// Source or destination of datagrams.
struct UdpAddress {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;  ///< HOST:PORT, as given, with the host filled in
};

/// `place`: HOST:PORT or [V6]:PORT, optionally preceded by `udp:` and `//`; the default host is 127.0.0.1. Port 0 means
/// any free port. Throws UserError that names the place when it is not of this form or the host is unknown.
UdpAddress resolve_udp(const std::string& place);

}  // namespace eventloom
