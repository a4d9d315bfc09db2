#include "app/tools/bench/zmq_socket.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

#include "app/tools/bench/host_address.hpp"

namespace eventloom {

namespace {

[[noreturn]] void zmq_failed(const std::string& what) {
  throw std::runtime_error(what + ": " + zmq_strerror(zmq_errno()));
}

bool would_wait() { return zmq_errno() == EAGAIN || zmq_errno() == EINTR; }

/// Deallocation function for memory that ZeroMQ does not own.
void keep(void* /*data*/, void* /*hint*/) {}

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

ZmqSocket::ZmqSocket(ZmqSocket&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), endpoint_(std::move(other.endpoint_)) {}

const std::string& ZmqSocket::bind(bool over_tcp, bool one_host) {
  const std::string place = over_tcp ? "tcp://*:*" : ipc_address();
  if (zmq_bind(handle_, place.c_str()) != 0) zmq_failed("zmq_bind to " + place);
  char text[256];
  std::size_t size = sizeof text;
  if (zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, text, &size) != 0) zmq_failed("ZMQ_LAST_ENDPOINT");
  endpoint_ = text;
  if (over_tcp) endpoint_ = "tcp://" + reachable_address(one_host) + endpoint_.substr(endpoint_.rfind(':'));
  return endpoint_;
}

void ZmqSocket::connect(const std::string& endpoint) {
  if (zmq_connect(handle_, endpoint.c_str()) != 0) zmq_failed("zmq_connect to " + endpoint);
}

bool ZmqSocket::send(std::span<const std::byte> data) {
  zmq_msg_t message;
  // ZeroMQ only reads the data.
  if (zmq_msg_init_data(&message, const_cast<std::byte*>(data.data()), data.size(), keep, nullptr) != 0) {
    zmq_failed("zmq_msg_init_data");
  }
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
