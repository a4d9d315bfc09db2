// The peer used by many event builders: ZeroMQ sockets, PUSH to PULL.

#include "app/tools/bench/zmq_peer.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/bench/peer_link.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr auto kGreetingTime = std::chrono::seconds(30);

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + zmq_strerror(zmq_errno())); }

/// Deallocation function for memory that ZeroMQ does not own.
void keep(void* /*data*/, void* /*hint*/) {}

class Context {
 public:
  Context() : handle_(zmq_ctx_new()) {
    if (handle_ == nullptr) fail("zmq_ctx_new");
  }
  // Returns once the I/O thread has released all messages.
  ~Context() { zmq_ctx_term(handle_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  void* handle_;
};

/// A PUSH or PULL socket. Messages still queued at close are dropped.
class Socket {
 public:
  Socket(const Context& context, int type, std::uint32_t queue) : handle_(zmq_socket(context.handle(), type)) {
    if (handle_ == nullptr) fail("zmq_socket");
    const int messages = static_cast<int>(std::min<std::uint32_t>(queue, std::numeric_limits<int>::max()));
    for (const auto& [option, value] : {std::pair(ZMQ_LINGER, 0), {ZMQ_SNDHWM, messages}, {ZMQ_RCVHWM, messages}}) {
      zmq_setsockopt(handle_, option, &value, sizeof value);
    }
  }
  ~Socket() {
    if (handle_ != nullptr) zmq_close(handle_);
  }
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Socket& operator=(Socket&&) = delete;

  void bind(const std::string& endpoint) {
    if (zmq_bind(handle_, endpoint.c_str()) != 0) fail("zmq_bind to " + endpoint);
  }
  void connect(const std::string& endpoint) {
    if (zmq_connect(handle_, endpoint.c_str()) != 0) fail("zmq_connect to " + endpoint);
  }
  [[nodiscard]] std::string endpoint() const {
    char text[256];
    std::size_t size = sizeof text;
    if (zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, text, &size) != 0) fail("ZMQ_LAST_ENDPOINT");
    return text;
  }

  /// Sends `bytes` of constant data without copying them; returns false if the queue is full.
  bool send(std::byte* data, std::size_t bytes) {
    return try_send(data, bytes) || (has_room() && try_send(data, bytes));
  }

  /// Discards the next message and returns its size; -1 if there is none.
  std::int64_t receive() {
    zmq_msg_t message;
    zmq_msg_init(&message);
    const int bytes = zmq_msg_recv(&message, handle_, ZMQ_DONTWAIT);
    if (bytes < 0 && zmq_errno() != EAGAIN && zmq_errno() != EINTR) fail("zmq_msg_recv");
    zmq_msg_close(&message);
    return bytes;
  }

 private:
  bool try_send(std::byte* data, std::size_t bytes) {
    zmq_msg_t message;
    if (zmq_msg_init_data(&message, data, bytes, keep, nullptr) != 0) fail("zmq_msg_init_data");
    if (zmq_msg_send(&message, handle_, ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EAGAIN && zmq_errno() != EINTR) fail("zmq_msg_send");
    zmq_msg_close(&message);
    return false;
  }

  /// Always checks whether the I/O thread has made room, unlike a non-blocking send, which checks about once
  /// per millisecond.
  [[nodiscard]] bool has_room() const {
    int events = 0;
    std::size_t size = sizeof events;
    zmq_getsockopt(handle_, ZMQ_EVENTS, &events, &size);
    return (events & ZMQ_POLLOUT) != 0;
  }

  void* handle_;
};

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

/// Binds the socket and returns the endpoint to which others connect.
std::string bind_somewhere(Socket& socket, bool over_tcp, bool one_host) {
  socket.bind(over_tcp ? "tcp://*:*" : ipc_address());
  auto endpoint = socket.endpoint();
  if (!over_tcp) return endpoint;
  return "tcp://" + reachable_address(one_host) + endpoint.substr(endpoint.rfind(':'));
}

class ZmqLink final : public PeerLink {
 public:
  /// Collective.
  ZmqLink(const Communicator& communicator, const PeerTraffic& traffic, bool over_tcp, bool one_host)
      : message_bytes_(traffic.message_bytes),
        queue_(traffic.queue),
        senders_(traffic.senders.size()),
        source_(traffic.targets.size() * traffic.queue * traffic.message_bytes, std::byte{0x5a}),
        sent_(traffic.targets.size()),
        pull_(context_, ZMQ_PULL, traffic.queue) {
    const auto endpoints = communicator.all_gather(senders_ == 0 ? "" : bind_somewhere(pull_, over_tcp, one_host));
    for (const int rank : traffic.targets) {
      push_.emplace_back(context_, ZMQ_PUSH, traffic.queue).connect(endpoints[static_cast<std::size_t>(rank)]);
    }
    greet(endpoints[static_cast<std::size_t>(communicator.rank())]);
  }

  bool send(std::size_t target) override {
    const auto slot = target * queue_ + sent_[target] % queue_;
    if (!push_[target].send(source_.data() + slot * message_bytes_, message_bytes_)) return false;
    ++sent_[target];
    return true;
  }

  // An empty message is the last of a connection.
  bool end(std::size_t target) override { return push_[target].send(nullptr, 0); }

  Progress advance() override {
    Progress progress;
    for (std::size_t budget = senders_ * queue_; budget != 0; --budget) {
      const auto bytes = pull_.receive();
      if (bytes < 0) break;
      progress.moved = true;
      progress.messages += bytes == 0 ? 0 : 1;
      progress.bytes += static_cast<std::uint64_t>(bytes);
      ended_ += bytes == 0 ? 1 : 0;
    }
    return progress;
  }

  // The I/O thread handles sent messages.
  [[nodiscard]] bool finished() const override { return ended_ == senders_; }

 private:
  /// Sends an empty message over every connection, so that all are established before the start.
  void greet(const std::string& endpoint) {
    const auto until = std::chrono::steady_clock::now() + kGreetingTime;
    for (auto& socket : push_) {
      while (!socket.send(nullptr, 0)) sched_yield();
    }
    for (std::size_t greeted = 0; greeted < senders_;) {
      if (pull_.receive() == 0) {
        ++greeted;
        continue;
      }
      if (std::chrono::steady_clock::now() > until) {
        throw UserError(std::to_string(senders_ - greeted) + " ranks do not reach " + endpoint +
                        ": the hosts must share a network, whose interface UCX_NET_DEVICES can name");
      }
      sched_yield();
    }
  }

  std::size_t message_bytes_;
  std::size_t queue_;
  std::size_t senders_;
  std::size_t ended_ = 0;
  std::vector<std::byte> source_;  ///< outlives the context, which may still read it
  std::vector<std::uint64_t> sent_;
  Context context_;
  Socket pull_;
  std::vector<Socket> push_;
};

class ZmqPeer final : public Peer {
 public:
  ZmqPeer(bool over_tcp, const Communicator& communicator) : communicator_(communicator), over_tcp_(over_tcp) {
    const auto hosts = communicator.all_gather(host_name());
    one_host_ = std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts.front(); });
    if (!over_tcp && !one_host_) {
      throw UserError("the peer zmq-ipc needs all ranks on one host: choose zmq-tcp or mpi");
    }
  }

  [[nodiscard]] std::string_view name() const override { return over_tcp_ ? "zmq-tcp" : "zmq-ipc"; }

  PeerResult run(const PeerTraffic& traffic) override {
    check(traffic);
    ZmqLink link(communicator_, traffic, over_tcp_, one_host_);
    return drive(link, traffic, communicator_);
  }

 private:
  const Communicator& communicator_;
  bool over_tcp_;
  bool one_host_ = true;
};

}  // namespace

std::unique_ptr<Peer> make_zmq_peer(std::string_view name, const Communicator& communicator) {
  return std::make_unique<ZmqPeer>(name == "zmq-tcp", communicator);
}

}  // namespace eventloom
