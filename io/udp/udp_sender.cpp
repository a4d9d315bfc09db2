#include "io/udp/udp_sender.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/udp/link_rate.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBatch = 64;               ///< datagrams per system call
constexpr std::size_t kBatchBytes = 256U << 10;  ///< their total size; raised to fit the largest datagram

/// Returns a connected socket, which the caller must close.
int connected(const std::string& place) {
  const auto address = resolve_udp(place);
  const int socket = ::socket(address.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0) {
    return socket;
  }
  const std::string reason = std::strerror(errno);
  if (socket >= 0) ::close(socket);
  throw UserError("cannot send to '" + place + "': " + reason);
}

}  // namespace

UdpSender::UdpSender(const std::string& place, std::size_t most_bytes, WhenFull when_full)
    : UdpSender(connected(place), place, most_bytes, when_full) {}

UdpSender::UdpSender(int socket, std::string name, std::size_t most_bytes, WhenFull when_full)
    : place_(std::move(name)), socket_(socket), when_full_(when_full), batch_(std::max(kBatchBytes, most_bytes)) {}

UdpSender::~UdpSender() { ::close(socket_); }

std::span<std::byte> UdpSender::next(std::size_t bytes) {
  if (waiting_.size() == kBatch || used_ + bytes > batch_.size()) flush();
  const auto datagram = std::span(batch_).subspan(used_, bytes);
  waiting_.push_back(datagram);
  used_ += bytes;
  count_.datagrams += 1;
  count_.bytes += bytes;
  return datagram;
}

void UdpSender::flush() {
  for (std::size_t sent = 0; sent < waiting_.size();) sent += send_some(sent);
  waiting_.clear();
  used_ = 0;
}

std::span<const std::byte> UdpSender::receive(std::span<std::byte> room) {
  const auto got = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
  if (got >= 0) return room.first(static_cast<std::size_t>(got));
  // Reading consumes the system's report that an earlier datagram found no receiver.
  if (errno == ECONNREFUSED) report_refusal(errno);
  return {};
}

void UdpSender::wait(int timeout_ms) const {
  pollfd ready{socket_, POLLIN, 0};
  ::poll(&ready, 1, timeout_ms);
}

std::uint64_t UdpSender::link_rate() const { return link_rate_of(socket_); }

/// Returns the number of datagrams from `first` on that were sent or need not be retried.
std::size_t UdpSender::send_some(std::size_t first) {
  std::array<iovec, kBatch> pieces{};
  std::array<mmsghdr, kBatch> messages{};
  const std::size_t n = waiting_.size() - first;
  for (std::size_t i = 0; i < n; ++i) {
    const auto datagram = waiting_[first + i];
    pieces[i] = {datagram.data(), datagram.size()};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = ::sendmmsg(socket_, messages.data(), static_cast<unsigned>(n), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  return take_error(errno, n);
}

/// Returns once sending may continue, with the number of the `left` datagrams that need not be retried.
std::size_t UdpSender::take_error(int error, std::size_t left) {
  switch (error) {
    case EINTR: return 0;
    case ECONNREFUSED: report_refusal(error); return 0;  // it concerns an earlier datagram
    case EHOSTUNREACH:
    case ENETUNREACH: report_refusal(error); return 1;
    case EAGAIN:
    case ENOBUFS: {
      constexpr int kMilliseconds = 1;  // ENOBUFS: the socket has room, but the network device has not
      ++count_.full;
      if (when_full_ == WhenFull::drop) {
        count_.dropped += left;
        for (const auto& datagram : std::span(waiting_).last(left)) count_.dropped_bytes += datagram.size();
        return left;
      }
      pollfd ready{socket_, static_cast<short>(error == EAGAIN ? POLLOUT : 0), 0};
      ::poll(&ready, 1, kMilliseconds);
      return 0;
    }
    default:
      if (when_full_ != WhenFull::drop) throw UserError(place_ + ": cannot send: " + std::strerror(error));
      report_refusal(error);
      return 1;
  }
}

void UdpSender::report_refusal(int error) {
  if (count_.refused++ != 0 || !reports_refusal_) return;
  log::warn("{}: {}; datagrams to it are lost until there is a receiver", place_,
            error == ECONNREFUSED ? "nobody listens" : std::strerror(error));
}

}  // namespace eventloom
