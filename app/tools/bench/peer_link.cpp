#include "app/tools/bench/peer_link.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/control/agreement.hpp"

namespace eventloom {

namespace {

using Clock = std::chrono::steady_clock;

/// The sending side of one rank: sends messages to all targets in turn, then the end marks.
class Sending {
 public:
  Sending(PeerLink& link, const PeerTraffic& traffic, const PayloadPool& pool)
      : link_(link), pool_(pool), rounds_(traffic.queue), open_(traffic.targets.size()), sent_(open_.size()) {
    std::iota(open_.begin(), open_.end(), std::size_t{0});
  }

  /// Sends while there is room, up to a limit, so that receiving gets its turn. Returns the number of messages started.
  std::uint64_t send() {
    std::uint64_t begun = 0;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      const auto before = begun;
      for (const auto target : open_) {
        if (!link_.send(target, pool_.message(sent_[target]))) continue;
        ++sent_[target];
        ++begun;
      }
      if (begun == before) break;
    }
    return begun;
  }

  /// Sends the next end marks; returns false if there is no room or none are left.
  bool end() {
    return std::erase_if(open_, [&](std::size_t target) { return link_.end(target); }) != 0;
  }
  [[nodiscard]] bool ended() const { return open_.empty(); }

 private:
  PeerLink& link_;
  const PayloadPool& pool_;
  std::uint32_t rounds_;
  std::vector<std::size_t> open_;    ///< indices of the targets not yet sent an end mark
  std::vector<std::uint64_t> sent_;  ///< messages of each target
};

void check(const PeerTraffic& traffic) {
  // MPI counts bytes in an int.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (traffic.message_bytes == 0 || traffic.message_bytes > kMost || largest_message(traffic) > kMost) {
    throw std::invalid_argument("messages of " + std::to_string(traffic.message_bytes) + " bytes: must be 1 to " +
                                std::to_string(kMost));
  }
  if (traffic.queue == 0) throw std::invalid_argument("a queue of 0 messages: must be 1 or more");
}

/// Collective. Runs the traffic from the common start until all ranks have finished.
PeerResult drive(PeerLink& link, const PeerTraffic& traffic, const PayloadPool& pool,
                 const Communicator& communicator) {
  Sending sending(link, traffic, pool);
  PeerReceiver receiver(traffic);
  std::uint64_t sent = 0;
  double last = 0;
  meet(communicator);
  const auto start = Clock::now();
  std::unique_ptr<PendingBarrier> all_finished;
  while (!all_finished || !all_finished->done()) {
    const auto before = receiver.result().messages_received;
    bool moved = link.advance(receiver);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (receiver.result().messages_received != before) last = seconds;
    // A rank whose processor was busy until the end of the time has sent once, too.
    const bool may_send = seconds < traffic.seconds || sent == 0;
    const auto begun = may_send ? sending.send() : 0;
    sent += begun;
    moved = (!may_send && sending.end()) || begun != 0 || moved;
    if (!all_finished && sending.ended() && link.finished()) all_finished = communicator.barrier();
    if (!moved) sched_yield();
  }
  auto result = receiver.result();
  result.messages_sent = sent;
  result.seconds = last;
  return result;
}

}  // namespace

PayloadPool pool_of(const PeerTraffic& traffic, int sender) {
  return {static_cast<std::uint32_t>(sender), traffic.message_bytes, traffic.spread,
          traffic.message_bytes * traffic.queue};
}

std::uint64_t largest_message(const PeerTraffic& traffic) {
  return PayloadPool::largest(traffic.message_bytes, traffic.spread);
}

PeerReceiver::PeerReceiver(const PeerTraffic& traffic) {
  if (traffic.receive != Receive::verify) return;
  for (const int sender : traffic.senders) pools_.push_back(pool_of(traffic, sender));
}

void PeerReceiver::take(std::size_t sender, std::uint64_t number, std::span<const std::byte> message) {
  ++result_.messages_received;
  result_.bytes_received += message.size();
  if (!pools_.empty() && !std::ranges::equal(message, pools_[sender].message(number))) ++result_.messages_wrong;
}

PeerResult Peer::run(const PeerTraffic& traffic) const {
  check(traffic);
  const auto pool = pool_of(traffic, communicator_.rank());  // outlives the link, which may still read it
  const auto link = make_link_(traffic);
  return drive(*link, traffic, pool, communicator_);
}

}  // namespace eventloom
