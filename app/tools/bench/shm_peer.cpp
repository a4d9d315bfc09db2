// The peer without MPI: rings in shared memory, which receivers read in place.

#include "app/tools/bench/shm_peer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/tools/bench/shm_ring.hpp"
#include "core/control/agreement.hpp"

namespace eventloom {

namespace {

class ShmLink final : public PeerLink {
 public:
  /// Collective.
  ShmLink(const Communicator& communicator, const PeerTraffic& traffic)
      : queue_(traffic.queue),
        copies_(traffic.receive == Receive::copy),
        copy_(copies_ ? largest_message(traffic) : 0),
        from_(traffic.senders.size()) {
    const ShmRing::Shape shape{traffic.queue, largest_message(traffic)};
    std::vector<std::string> mine(static_cast<std::size_t>(communicator.size()));
    agree(communicator, [&] {
      for (const int rank : traffic.senders) {
        receiving_.push_back(std::make_unique<ShmRing>(shape));
        mine[static_cast<std::size_t>(rank)] = receiving_.back()->name();
      }
    });
    const auto names = communicator.all_gather(mine);
    const auto me = static_cast<std::size_t>(communicator.rank());
    agree(communicator, [&] {
      for (const int rank : traffic.targets) {
        sending_.push_back(std::make_unique<ShmRing>(names[static_cast<std::size_t>(rank)][me], shape));
      }
    });
    for (auto& ring : receiving_) ring->forget_name();
  }

  bool send(std::size_t target, std::span<const std::byte> message) override {
    return sending_[target]->try_send(message);
  }

  // An empty message is the last of a connection.
  bool end(std::size_t target) override { return sending_[target]->try_send({}); }

  bool advance(PeerReceiver& receiver) override {
    bool moved = false;
    for (std::size_t sender = 0; sender < receiving_.size(); ++sender) {
      auto& ring = *receiving_[sender];
      for (auto budget = queue_; budget != 0; --budget) {
        const auto message = ring.poll();
        if (!message) break;
        take(sender, *message, receiver);
        ring.release();
        moved = true;
      }
    }
    return moved;
  }

  [[nodiscard]] bool finished() const override { return ended_ == receiving_.size(); }

 private:
  void take(std::size_t sender, std::span<const std::byte> message, PeerReceiver& receiver) {
    if (message.empty()) {
      ++ended_;
      return;
    }
    if (copies_) std::ranges::copy(message, copy_.begin());
    receiver.take(sender, from_[sender]++, message);
  }

  std::uint32_t queue_;
  bool copies_;
  std::vector<std::byte> copy_;
  std::vector<std::uint64_t> from_;  ///< messages received, per sender
  std::size_t ended_ = 0;
  std::vector<std::unique_ptr<ShmRing>> receiving_;
  std::vector<std::unique_ptr<ShmRing>> sending_;
};

}  // namespace

std::unique_ptr<PeerLink> make_shm_link(const Communicator& communicator, const PeerTraffic& traffic) {
  return std::make_unique<ShmLink>(communicator, traffic);
}

}  // namespace eventloom
