#include "app/tools/bench/udp_duplex.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "core/control/agreement.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kUdpPatienceNs = 30'000'000'000;
constexpr int kReceiveBuffer = 4 << 20;

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void udp_failed(const char* what) {
  throw UserError("peer udp: " + std::string(what) + ": " + std::generic_category().message(errno));
}

}  // namespace

UdpDuplex::UdpDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait), datagram_(settings.largest), received_at_(steady_ns()) {
  sockaddr_in address = loopback_address(0);
  socklen_t length = sizeof address;
  agree(communicator, [&] {
    socket_ = Descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
    auto* place = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.number(), place, length) != 0) udp_failed("no port at 127.0.0.1");
    ::getsockname(socket_.number(), place, &length);
  });
  const auto ports = communicator.all_gather(ntohs(address.sin_port));
  agree(communicator, [&] {
    if (!settings.other) return;
    const auto to = loopback_address(ports[static_cast<std::size_t>(*settings.other)]);
    if (::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) udp_failed("connect");
  });
}

bool UdpDuplex::try_send(std::span<const std::byte> message) {
  if (::send(socket_.number(), message.data(), message.size(), 0) >= 0) return true;
  if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED) udp_failed("send");
  return false;
}

std::optional<std::span<const std::byte>> UdpDuplex::poll() {
  const auto bytes = ::recv(socket_.number(), datagram_.data(), datagram_.size(), 0);
  if (bytes >= 0) {
    received_at_ = steady_ns();
    return std::span(datagram_).first(static_cast<std::size_t>(bytes));
  }
  if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED) udp_failed("recv");
  if (steady_ns() - received_at_ > kUdpPatienceNs) throw std::runtime_error("peer udp: no datagram for 30 s");
  return std::nullopt;
}

}  // namespace eventloom
