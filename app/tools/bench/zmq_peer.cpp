// The peer used by many event builders: ZeroMQ sockets, PUSH to PULL.

#include "app/tools/bench/zmq_peer.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "app/tools/bench/host_address.hpp"
#include "app/tools/bench/zmq_socket.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr auto kGreetingTime = std::chrono::seconds(30);

/// A PULL socket per sender, so that each message has a known sender.
class ZmqLink final : public PeerLink {
 public:
  /// Collective.
  ZmqLink(const Communicator& communicator, const PeerTraffic& traffic, bool over_tcp)
      : queue_(traffic.queue), from_(traffic.senders.size()) {
    std::vector<std::string> mine(static_cast<std::size_t>(communicator.size()));
    const bool one_host = on_one_host(communicator);
    for (const int rank : traffic.senders) {
      auto& endpoint = mine[static_cast<std::size_t>(rank)];
      endpoint = pull_.emplace_back(context_, ZMQ_PULL, traffic.queue).bind(over_tcp, one_host);
    }
    const auto endpoints = communicator.all_gather(mine);
    const auto me = static_cast<std::size_t>(communicator.rank());
    for (const int rank : traffic.targets) {
      push_.emplace_back(context_, ZMQ_PUSH, traffic.queue).connect(endpoints[static_cast<std::size_t>(rank)][me]);
    }
    greet();
  }

  bool send(std::size_t target, std::span<const std::byte> message) override { return push_[target].send(message); }

  // An empty message is the last of a connection.
  bool end(std::size_t target) override { return push_[target].send({}); }

  bool advance(PeerReceiver& receiver) override {
    bool moved = false;
    for (std::size_t sender = 0; sender < pull_.size(); ++sender) {
      for (auto budget = queue_; budget != 0 && pull_[sender].receive(message_); --budget) {
        moved = true;
        const auto bytes = message_.bytes();
        if (bytes.empty()) {
          ++ended_;
        } else {
          receiver.take(sender, from_[sender]++, bytes);
        }
      }
    }
    return moved;
  }

  // The I/O thread handles sent messages.
  [[nodiscard]] bool finished() const override { return ended_ == pull_.size(); }

 private:
  /// Sends an empty message over every connection, so that all are established before the start.
  void greet() {
    const auto until = std::chrono::steady_clock::now() + kGreetingTime;
    for (auto& socket : push_) {
      while (!socket.send({})) sched_yield();
    }
    for (auto& socket : pull_) {
      while (!socket.receive(message_)) {
        if (std::chrono::steady_clock::now() > until) {
          throw UserError("peer zmq: no message of another rank has arrived at " + socket.endpoint() +
                          ": the hosts must share a network, whose interface UCX_NET_DEVICES can name");
        }
        sched_yield();
      }
    }
  }

  std::uint32_t queue_;
  std::size_t ended_ = 0;
  std::vector<std::uint64_t> from_;  ///< messages received, per sender
  ZmqContext context_;
  std::vector<ZmqSocket> pull_;
  std::vector<ZmqSocket> push_;
  ZmqMessage message_;
};

}  // namespace

std::unique_ptr<PeerLink> make_zmq_link(const Communicator& communicator, const PeerTraffic& traffic, bool over_tcp) {
  return std::make_unique<ZmqLink>(communicator, traffic, over_tcp);
}

}  // namespace eventloom
