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

/// Listens for TCP connections. `address`: a number or a name, IPv4 or IPv6; `port` 0: the system chooses. Throws
/// UserError when that is not available, with `advice` at its end.
MbsServerSocket listen_on(const std::string& address, std::uint16_t port, const std::string& advice);

/// Accepts a connection, non-blocking, with its peer's address in `peer`. fd() is -1 when there is none, or when it
/// fails: errno says why.
MbsServerSocket accept_from(const MbsServerSocket& listener, std::string& peer);

/// "127.0.0.1:6000", "[::1]:6000": the local address of a socket.
std::string bound_to(const MbsServerSocket& socket);

}  // namespace eventloom
