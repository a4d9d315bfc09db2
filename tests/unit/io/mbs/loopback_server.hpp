#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace eventloom::test {

/// The server's end of a connection.
class Peer {
 public:
  explicit Peer(int socket) : socket_(socket) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Peer() { ::close(socket_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Returns false when the client has disconnected. `at_once`: bytes per system call.
  bool send(const std::string& bytes, std::size_t at_once = 1U << 20) const {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto sent = ::send(socket_, bytes.data() + at, std::min(at_once, bytes.size() - at), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  /// The next `n` bytes, or fewer at the end.
  [[nodiscard]] std::string receive(std::size_t n) const {
    std::string bytes(n, '\0');
    const auto got = ::recv(socket_, bytes.data(), n, MSG_WAITALL);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  /// Whether all received data have been read.
  [[nodiscard]] bool is_quiet() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
  }
  void wait_for_the_end() const {
    while (!receive(1).empty()) {
    }
  }
  /// The connection is reset when it is closed.
  void reset_at_the_end() const {
    const linger abort{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  }

 private:
  int socket_;
};

/// Serves one client after another on its own port, each with its function, and then ends.
class Server {
 public:
  using Serve = std::function<void(const Peer&)>;

  explicit Server(std::vector<Serve> clients) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 8), 0);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, all = std::move(clients)] {
      for (const auto& serve : all) {
        const int client = accept(socket_, nullptr, nullptr);
        if (client < 0) break;
        serve(Peer(client));
      }
      ::close(socket_);
    });
  }
  ~Server() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string place() const { return "//127.0.0.1:" + std::to_string(port_); }

 private:
  int socket_;
  int port_ = 0;
  std::thread thread_;
};

/// Sends everything and closes.
inline Server::Serve sends(std::string bytes, std::size_t at_once = 1U << 20) {
  return [bytes = std::move(bytes), at_once](const Peer& peer) { peer.send(bytes, at_once); };
}

}  // namespace eventloom::test
