#include "io/serve/mbs_server_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

constexpr int kBacklog = 16;

void set_option(const MbsServerSocket& socket, int level, int option) {
  const int on = 1;
  setsockopt(socket.fd(), level, option, &on, sizeof on);
}

Addresses addresses_of(const std::string& address, std::uint16_t port, const std::string& advice) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) throw UserError("cannot listen on " + address + ": " + gai_strerror(error) + "; " + advice);
  return Addresses(list);
}

std::string to_text(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  const std::string name(host.data());
  return (address.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

}  // namespace

void MbsServerSocket::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

MbsServerSocket listen_on(const std::string& address, std::uint16_t port, const std::string& advice) {
  const auto list = addresses_of(address, port, advice);
  int error = 0;
  for (const auto* one = list.get(); one != nullptr; one = one->ai_next) {
    MbsServerSocket socket(::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, one->ai_protocol));
    if (socket.fd() >= 0) {
      set_option(socket, SOL_SOCKET, SO_REUSEADDR);
      const bool bound = ::bind(socket.fd(), one->ai_addr, one->ai_addrlen) == 0;
      if (bound && ::listen(socket.fd(), kBacklog) == 0) return socket;
    }
    error = errno;
  }
  throw UserError("cannot listen on port " + std::to_string(port) + " of " + address + ": " + std::strerror(error) +
                  "; " + advice);
}

MbsServerSocket accept_from(const MbsServerSocket& listener, std::string& peer) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  MbsServerSocket socket(
      ::accept4(listener.fd(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.fd() < 0) return socket;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
  peer = to_text(address, size);
  return socket;
}

std::string bound_to(const MbsServerSocket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return to_text(address, size);
}

}  // namespace eventloom
