// The peer in plain MPI: two-sided, non-blocking messages.

#include "app/tools/bench/mpi_peer.hpp"

#include "app/tools/bench/message_stream.hpp"

namespace eventloom {

namespace {

class MpiLink final : public PeerLink {
 public:
  MpiLink(const Communicator& communicator, const PeerTraffic& traffic)
      : stream_(communicator,
                {traffic.targets, traffic.senders, static_cast<int>(largest_message(traffic)), traffic.queue}) {}

  bool send(std::size_t target, std::span<const std::byte> message) override { return stream_.send(target, message); }
  bool end(std::size_t target) override { return stream_.end(target); }
  bool advance(PeerReceiver& receiver) override {
    return stream_.advance(
        [&](const MessageStream::Received& one) { receiver.take(one.sender, one.number, one.message); });
  }
  [[nodiscard]] bool finished() const override { return stream_.finished(); }

 private:
  MessageStream stream_;
};

}  // namespace

std::unique_ptr<PeerLink> make_mpi_link(const Communicator& communicator, const PeerTraffic& traffic) {
  return std::make_unique<MpiLink>(communicator, traffic);
}

}  // namespace eventloom
