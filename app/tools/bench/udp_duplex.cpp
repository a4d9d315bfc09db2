#include "app/tools/bench/udp_duplex.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "app/tools/bench/loopback_socket.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kUdpPatienceNs = 30'000'000'000;
constexpr int kReceiveBuffer = 4 << 20;

[[noreturn]] void udp_failed(const char* what) {
  throw UserError("peer udp: " + std::string(what) + ": " + std::generic_category().message(errno));
}

}  // namespace

UdpDuplex::UdpDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait), datagram_(settings.largest), received_at_(steady_ns()) {
  std::uint16_t port = 0;
  agree(communicator, [&] {
    socket_ = bound_at_loopback();
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
    port = port_of(socket_);
  });
  const auto ports = communicator.all_gather(port);
  agree(communicator, [&] {
    if (settings.other) connect_at_loopback(socket_, ports[static_cast<std::size_t>(*settings.other)]);
  });
}

bool UdpDuplex::try_send(std::span<const std::byte> message) {
  if (::send(socket_.number(), message.data(), message.size(), MSG_DONTWAIT) >= 0) return true;
  if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED) udp_failed("send");
  return false;
}

std::optional<std::span<const std::byte>> UdpDuplex::poll() {
  const auto bytes = ::recv(socket_.number(), datagram_.data(), datagram_.size(), MSG_DONTWAIT);
  if (bytes >= 0) {
    received_at_ = steady_ns();
    return std::span(datagram_).first(static_cast<std::size_t>(bytes));
  }
  if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED) udp_failed("recv");
  if (steady_ns() - received_at_ > kUdpPatienceNs) throw std::runtime_error("peer udp: no datagram for 30 s");
  return std::nullopt;
}

}  // namespace eventloom
