// The peer in plain MPI: two-sided, non-blocking messages.

#include "app/tools/bench/mpi_peer.hpp"

#include "app/tools/bench/message_stream.hpp"
#include "app/tools/bench/peer_link.hpp"

namespace eventloom {

namespace {

class MpiLink final : public PeerLink {
 public:
  MpiLink(const Communicator& communicator, const PeerTraffic& traffic)
      : stream_(communicator,
                {traffic.targets, traffic.senders, static_cast<int>(traffic.message_bytes), traffic.queue}) {}

  bool send(std::size_t target) override { return stream_.send(target); }
  bool end(std::size_t target) override { return stream_.end(target); }
  Progress advance() override {
    const auto progress = stream_.advance();
    return {progress.messages, progress.bytes, progress.moved};
  }
  [[nodiscard]] bool finished() const override { return stream_.finished(); }

 private:
  MessageStream stream_;
};

class MpiPeer final : public Peer {
 public:
  explicit MpiPeer(const Communicator& communicator) : communicator_(communicator) {}

  [[nodiscard]] std::string_view name() const override { return "mpi"; }

  PeerResult run(const PeerTraffic& traffic) override {
    check(traffic);
    MpiLink link(communicator_, traffic);
    return drive(link, traffic, communicator_);
  }

 private:
  const Communicator& communicator_;
};

}  // namespace

std::unique_ptr<Peer> make_mpi_peer(const Communicator& communicator) {
  return std::make_unique<MpiPeer>(communicator);
}

}  // namespace eventloom
