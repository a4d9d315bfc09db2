#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace eventloom {

/// Owns the file descriptor of a socket; -1: none.
class MbsServerSocket {
 public:
  explicit MbsServerSocket(int fd = -1) : fd_(fd) {}
  ~MbsServerSocket() { close(); }
  MbsServerSocket(MbsServerSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MbsServerSocket& operator=(MbsServerSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  MbsServerSocket(const MbsServerSocket&) = delete;
  MbsServerSocket& operator=(const MbsServerSocket&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  void close();

 private:
  int fd_;
};

/// Listens for TCP connections. `address`: numeric or a name, IPv4 or IPv6; `port` 0: the system chooses. If the
/// address is unavailable, throws UserError that ends with `advice`.
MbsServerSocket listen_on(const std::string& address, std::uint16_t port, const std::string& advice);

/// Accepts a non-blocking connection and stores the address of its peer in `peer`. If there is none, or accepting
/// fails, fd() is -1 and errno states why.
MbsServerSocket accept_from(const MbsServerSocket& listener, std::string& peer);

/// The local address of a socket: "127.0.0.1:6000" or "[::1]:6000".
std::string bound_to(const MbsServerSocket& socket);

}  // namespace eventloom
