// The peer used by many event builders: ZeroMQ sockets, PUSH to PULL.

#include "app/tools/bench/zmq_peer.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "app/tools/bench/peer_link.hpp"
#include "app/tools/bench/zmq_socket.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

constexpr auto kGreetingTime = std::chrono::seconds(30);

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
    const auto endpoints = communicator.all_gather(senders_ == 0 ? "" : pull_.bind(over_tcp, one_host));
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
      if (!pull_.receive(message_)) break;
      const auto bytes = message_.bytes().size();
      progress.moved = true;
      progress.messages += bytes == 0 ? 0 : 1;
      progress.bytes += bytes;
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
      if (pull_.receive(message_)) {
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
  ZmqContext context_;
  ZmqSocket pull_;
  std::vector<ZmqSocket> push_;
  ZmqMessage message_;
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
