#include "app/tools/bench/loopback_socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/runtime/error.hpp"

namespace eventloom {

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor bound_at_loopback() {
  Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto address = loopback_address(0);
  if (!socket.is_open() || ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw UserError("cannot open a UDP port at 127.0.0.1: " + std::generic_category().message(errno));
  }
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

void connect_at_loopback(const Descriptor& socket, std::uint16_t port) {
  const auto to = loopback_address(port);
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return;
  throw UserError("cannot use UDP port " + std::to_string(port) +
                  " at 127.0.0.1: " + std::generic_category().message(errno));
}

}  // namespace eventloom
