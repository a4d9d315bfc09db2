#include "io/mbs/mbs_socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kConnectTimeout{5000};
constexpr milliseconds kSendTimeout{5000};
/// Keep-alive: idle time, interval and number of probes.
constexpr int kIdleSeconds = 10;
constexpr int kProbeSeconds = 5;
constexpr int kProbes = 4;
constexpr unsigned kUserTimeoutMs = 30'000;

std::string in_small_letters(const char* text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'A' && result[0] <= 'Z') result[0] = static_cast<char>(result[0] - 'A' + 'a');
  return result;
}

void set(int socket, int level, int option, int value) { setsockopt(socket, level, option, &value, sizeof value); }

void look_after_peer(int socket) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

/// Returns a connected socket, or -1 and the reason in `why`.
int connect_to(const addrinfo& address, const MbsStop& stop, std::string& why) {
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = socket < 0 ? errno : 0;
  if (error == 0 && ::connect(socket, address.ai_addr, address.ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (stop.wait(socket, POLLOUT, kConnectTimeout)) getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) {
    look_after_peer(socket);
    return socket;
  }
  why = in_small_letters(std::strerror(error));
  if (socket >= 0) ::close(socket);
  return -1;
}

}  // namespace

MbsStop::MbsStop() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_ < 0) throw UserError(std::string("no descriptor to stop a connection with: ") + std::strerror(errno));
}

MbsStop::~MbsStop() { ::close(event_); }

void MbsStop::stop() {
  stopped_ = true;
  eventfd_write(event_, 1);
}

bool MbsStop::wait(int socket, short events, milliseconds most) const {
  const auto end = std::chrono::steady_clock::now() + most;
  std::array<pollfd, 2> ends = {{{event_, POLLIN, 0}, {socket, events, 0}}};
  int found = -1;
  while (found < 0) {
    const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    found = ::poll(ends.data(), ends.size(), static_cast<int>(std::max(left, milliseconds(0)).count()));
    if (found < 0 && errno != EINTR) return false;
  }
  return !stopped_ && ends[1].revents != 0;
}

MbsHost::MbsHost(const MbsAddress& address) : found_(nullptr, freeaddrinfo) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0) throw UserError(address.text + ": no address of '" + address.host + "': " + gai_strerror(error));
  found_.reset(found);
}

std::unique_ptr<MbsSocket> MbsSocket::connect(const MbsHost& host, const MbsStop& stop, std::string& why) {
  for (const addrinfo* address = host.addresses(); address != nullptr && !stop.stopped(); address = address->ai_next) {
    const int socket = connect_to(*address, stop, why);
    if (socket >= 0) return std::unique_ptr<MbsSocket>(new MbsSocket(socket, stop));
  }
  return nullptr;
}

MbsSocket::~MbsSocket() { ::close(socket_); }

std::size_t MbsSocket::left() {
  int bytes = 0;
  if (!left_) left_ = ::ioctl(socket_, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(std::max(bytes, 0)) : 0;
  return *left_;
}

MbsSocket::Got MbsSocket::receive(std::span<std::byte> room, std::size_t& n, milliseconds most) {
  n = 0;
  for (bool waited = most.count() == 0;; waited = true) {
    if (stop_.stopped()) room = room.first(std::min(room.size(), left()));
    if (room.empty()) return Got::stopped;
    const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
    if (got > 0) {
      n = static_cast<std::size_t>(got);
      if (left_) *left_ -= n;
      return Got::bytes;
    }
    if (got == 0) return Got::closed;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      failure_ = in_small_letters(std::strerror(errno));
      return Got::broken;
    }
    if (waited) return Got::nothing;
    stop_.wait(socket_, POLLIN, most);
  }
}

void MbsSocket::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno != EINTR && !(errno == EAGAIN && stop_.wait(socket_, POLLOUT, kSendTimeout))) {
      return;
    }
  }
}

}  // namespace eventloom
