#include "io/udp/udp_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/files/descriptor.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom {

namespace {

std::string advice_for(int error) {
  if (error == EADDRINUSE) {
    return "; another program or source uses this port: stop it, or choose another port";
  }
  if (error == EADDRNOTAVAIL) return "; this machine has no such address: use one of its own";
  if (error == EACCES) return "; choose a port from 1024 on";
  return "; check the address";
}

}  // namespace

std::string text_of(const UdpPeer& peer) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&peer.address), peer.length, host.data(), host.size(),
                    port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  const std::string name(host.data());
  return (peer.address.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

std::size_t path_mtu(const UdpPeer& peer) {
  const bool v6 = peer.address.ss_family == AF_INET6;
  const Descriptor socket(::socket(peer.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  int mtu = 0;
  socklen_t length = sizeof mtu;
  const bool found =
      socket.is_open() &&
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&peer.address), peer.length) == 0 &&
      ::getsockopt(socket.number(), v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &length) == 0;
  if (!found) throw UserError("no path for UDP: " + std::string(std::strerror(errno)));
  return static_cast<std::size_t>(mtu);
}

UdpSocket::Closed::~Closed() {
  if (value >= 0) ::close(value);
}

UdpSocket::UdpSocket(const std::string& place, std::size_t receive_bytes, SmallBuffer small)
    : arena_(std::make_unique_for_overwrite<std::byte[]>(kBatch * kSlot)),
      messages_(kBatch),
      slots_(kBatch),
      controls_(kBatch),
      peers_(kBatch) {
  wakeup_.value = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wakeup_.value < 0) throw UserError("cannot open more files: " + std::string(std::strerror(errno)));
  bind_to(place, receive_bytes);
  if (small == SmallBuffer::warn) warn_of_small_buffer(receive_bytes);
  for (std::size_t i = 0; i < kBatch; ++i) slots_[i] = {arena_.get() + i * kSlot, kSlot};
  received_.reserve(kBatch);
}

UdpSocket::~UdpSocket() = default;

/// Sizes the buffer before binding, so that the first datagrams already find the full buffer.
void UdpSocket::bind_to(const std::string& place, std::size_t receive_bytes) {
  const auto address = resolve_udp(place);
  const auto fail = [&](const char* what) {
    const int error = errno;
    throw UserError("cannot " + std::string(what) + " " + address.text + " for UDP: " + std::strerror(error) +
                    advice_for(error));
  };
  socket_.value = ::socket(address.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_.value < 0) fail("open a socket at");
  size_buffer(receive_bytes);
  if (::bind(socket_.value, reinterpret_cast<const sockaddr*>(&address.address), address.length) != 0) {
    fail("listen at");
  }
}

void UdpSocket::size_buffer(std::size_t bytes) {
  const int wanted = static_cast<int>(bytes);
  // Privileged processes may exceed the system's limit.
  if (::setsockopt(socket_.value, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0) {
    ::setsockopt(socket_.value, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  }
  int got = 0;
  socklen_t length = sizeof got;
  ::getsockopt(socket_.value, SOL_SOCKET, SO_RCVBUF, &got, &length);
  receive_bytes_ = static_cast<std::size_t>(got);
  const int on = 1;
  ::setsockopt(socket_.value, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
}

void UdpSocket::warn_of_small_buffer(std::size_t bytes) const {
  if (receive_bytes_ < std::min(bytes, kFewBytes)) {
    log::warn(
        "the system grants {} KiB for receiving UDP, and may lose data at high rates: sysctl -w "
        "net.core.rmem_max={} allows more",
        receive_bytes_ / 1024, kReceiveBytes);
  }
}

void UdpSocket::wait(int timeout_ms) {
  std::array<pollfd, 2> both{{{socket_.value, POLLIN, 0}, {wakeup_.value, POLLIN, 0}}};
  if (::poll(both.data(), both.size(), timeout_ms) <= 0) return;
  if ((both[1].revents & POLLIN) != 0) {
    std::uint64_t times = 0;
    [[maybe_unused]] const auto read = ::read(wakeup_.value, &times, sizeof times);
  }
}

void UdpSocket::wake() const {
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(wakeup_.value, &once, sizeof once);
}

std::span<const std::span<const std::byte>> UdpSocket::receive() {
  for (std::size_t i = 0; i < kBatch; ++i) {
    messages_[i] = {};
    messages_[i].msg_hdr.msg_iov = &slots_[i];
    messages_[i].msg_hdr.msg_iovlen = 1;
    messages_[i].msg_hdr.msg_control = controls_[i].bytes.data();
    messages_[i].msg_hdr.msg_controllen = controls_[i].bytes.size();
    messages_[i].msg_hdr.msg_name = &peers_[i];
    messages_[i].msg_hdr.msg_namelen = sizeof peers_[i];
  }
  received_.clear();
  const int n = ::recvmmsg(socket_.value, messages_.data(), kBatch, MSG_DONTWAIT, nullptr);
  for (int i = 0; i < n; ++i) {
    auto& message = messages_[static_cast<std::size_t>(i)];
    note_drops(message.msg_hdr);
    received_.emplace_back(static_cast<const std::byte*>(message.msg_hdr.msg_iov->iov_base), message.msg_len);
  }
  return received_;
}

UdpPeer UdpSocket::peer(std::size_t index) const { return {peers_[index], messages_[index].msg_hdr.msg_namelen}; }

bool UdpSocket::send_to(const UdpPeer& peer, std::span<const std::byte> head, std::span<const std::byte> body) const {
  // The system only reads what it sends.
  std::array<iovec, 2> parts{
      {{const_cast<std::byte*>(head.data()), head.size()}, {const_cast<std::byte*>(body.data()), body.size()}}};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_storage*>(&peer.address);
  message.msg_namelen = peer.length;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(socket_.value, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void UdpSocket::note_drops(msghdr& message) {
  for (auto* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SO_RXQ_OVFL) continue;
    std::uint32_t drops = 0;
    std::memcpy(&drops, CMSG_DATA(control), sizeof drops);
    drops_.see(drops);
  }
}

std::uint16_t UdpSocket::port() const {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(socket_.value, reinterpret_cast<sockaddr*>(&bound), &length);
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

}  // namespace eventloom
