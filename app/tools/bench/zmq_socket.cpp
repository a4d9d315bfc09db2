#include "app/tools/bench/zmq_socket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

[[noreturn]] void zmq_failed(const std::string& what) {
  throw std::runtime_error(what + ": " + zmq_strerror(zmq_errno()));
}

bool would_wait() { return zmq_errno() == EAGAIN || zmq_errno() == EINTR; }

/// Deallocation function for memory that ZeroMQ does not own.
void keep(void* /*data*/, void* /*hint*/) {}

/// Returns an IPv4 address of the named interface or, if `name` is empty, of the first non-loopback interface; empty
/// if there is none.
std::string interface_address(const std::string& name) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string address;
  for (const ifaddrs* i = all; i != nullptr && address.empty(); i = i->ifa_next) {
    const bool up = (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_RUNNING) != 0;
    if (!up || i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    if (name.empty() ? (i->ifa_flags & IFF_LOOPBACK) != 0 : name != i->ifa_name) continue;
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(i->ifa_addr)->sin_addr, text, sizeof text);
    address = text;
  }
  freeifaddrs(all);
  return address;
}

/// Returns the address at which other ranks reach this one.
std::string reachable_address(bool one_host) {
  // UCX_NET_DEVICES may also list other devices (mlx5_0:1, all): the first network interface counts.
  if (const char* devices = std::getenv("UCX_NET_DEVICES"); devices != nullptr) {
    std::istringstream list(devices);
    for (std::string device; std::getline(list, device, ',');) {
      if (device.empty()) continue;
      if (auto address = interface_address(device); !address.empty()) return address;
    }
  }
  if (one_host) return "127.0.0.1";
  auto address = interface_address("");
  if (address.empty()) {
    throw UserError("zmq-tcp: host " + host_name() + " has no IPv4 interface but loopback: choose the peer mpi");
  }
  return address;
}

/// An address in the abstract namespace: it creates no file that could be left behind.
std::string ipc_address() {
  std::random_device random;
  return "ipc://@eventloom-" + std::to_string(getpid()) + "-" + std::to_string(random()) + std::to_string(random());
}

}  // namespace

ZmqContext::ZmqContext() : handle_(zmq_ctx_new()) {
  if (handle_ == nullptr) zmq_failed("zmq_ctx_new");
}

ZmqSocket::ZmqSocket(const ZmqContext& context, int type, std::uint32_t queue)
    : handle_(zmq_socket(context.handle(), type)) {
  if (handle_ == nullptr) zmq_failed("zmq_socket");
  const int messages = static_cast<int>(std::min<std::uint32_t>(queue, std::numeric_limits<int>::max()));
  for (const auto& [option, value] : {std::pair(ZMQ_LINGER, 0), {ZMQ_SNDHWM, messages}, {ZMQ_RCVHWM, messages}}) {
    zmq_setsockopt(handle_, option, &value, sizeof value);
  }
}

ZmqSocket::~ZmqSocket() {
  if (handle_ != nullptr) zmq_close(handle_);
}

ZmqSocket::ZmqSocket(ZmqSocket&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

std::string ZmqSocket::bind(bool over_tcp, bool one_host) {
  const std::string place = over_tcp ? "tcp://*:*" : ipc_address();
  if (zmq_bind(handle_, place.c_str()) != 0) zmq_failed("zmq_bind to " + place);
  char text[256];
  std::size_t size = sizeof text;
  if (zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, text, &size) != 0) zmq_failed("ZMQ_LAST_ENDPOINT");
  std::string endpoint = text;
  if (!over_tcp) return endpoint;
  return "tcp://" + reachable_address(one_host) + endpoint.substr(endpoint.rfind(':'));
}

void ZmqSocket::connect(const std::string& endpoint) {
  if (zmq_connect(handle_, endpoint.c_str()) != 0) zmq_failed("zmq_connect to " + endpoint);
}

bool ZmqSocket::send(std::byte* data, std::size_t bytes) {
  zmq_msg_t message;
  if (zmq_msg_init_data(&message, data, bytes, keep, nullptr) != 0) zmq_failed("zmq_msg_init_data");
  return try_send(message);
}

bool ZmqSocket::send_copy(std::span<const std::byte> data) {
  zmq_msg_t message;
  if (zmq_msg_init_size(&message, data.size()) != 0) zmq_failed("zmq_msg_init_size");
  std::memcpy(zmq_msg_data(&message), data.data(), data.size());
  return try_send(message);
}

bool ZmqSocket::receive(ZmqMessage& message) {
  if (zmq_msg_recv(message.handle(), handle_, ZMQ_DONTWAIT) >= 0) return true;
  if (!would_wait()) zmq_failed("zmq_msg_recv");
  return false;
}

bool ZmqSocket::try_send(zmq_msg_t& message) {
  for (bool again : {true, false}) {
    if (zmq_msg_send(&message, handle_, ZMQ_DONTWAIT) >= 0) return true;
    if (!would_wait()) zmq_failed("zmq_msg_send");
    if (!again || !has_room()) break;
  }
  zmq_msg_close(&message);
  return false;
}

/// Always checks whether the I/O thread has made room, unlike a non-blocking send, which checks about once
/// per millisecond.
bool ZmqSocket::has_room() const {
  int events = 0;
  std::size_t size = sizeof events;
  zmq_getsockopt(handle_, ZMQ_EVENTS, &events, &size);
  return (events & ZMQ_POLLOUT) != 0;
}

}  // namespace eventloom
