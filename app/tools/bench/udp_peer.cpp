// The peer of front-end boards: UDP.

#include "app/tools/bench/udp_peer.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "app/tools/bench/host_address.hpp"
#include "app/tools/bench/udp_stream.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/clock.hpp"
#include "io/udp/udp_address.hpp"
#include "io/udp/udp_socket.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kIpAndUdpHeaders = 28;
constexpr std::size_t kMostOfDatagram = 65507;

/// The socket at which a rank receives.
struct UdpPlace {
  sockaddr_in address{};
  std::uint64_t buffer = 0;  ///< bytes that may wait there
  std::uint32_t senders = 0;
};

/// The most that the kernel charges a socket for a datagram.
std::uint64_t charge(std::uint64_t bytes) { return bytes + bytes / 4 + 1024; }

UdpSending::Limits limits_of(const PeerTraffic& traffic, std::size_t mtu, const UdpPlace& receiver) {
  UdpSending::Limits limits;
  limits.queue = traffic.queue;
  limits.body = std::min(mtu - kIpAndUdpHeaders, kMostOfDatagram) - sizeof(UdpHeader);
  const auto datagram = std::min<std::uint64_t>(limits.body, largest_message(traffic)) + sizeof(UdpHeader);
  // Half of the buffer: the kernel gives freed memory back late.
  limits.window = std::max<std::uint64_t>(receiver.buffer / 2 / receiver.senders / charge(datagram), 1);
  return limits;
}

class UdpLink final : public PeerLink {
 public:
  /// Collective.
  UdpLink(const Communicator& communicator, const PeerTraffic& traffic) : rank_(communicator.rank()) {
    session_ = communicator.broadcast((std::uint64_t{std::random_device{}()} << 32) + std::random_device{}());
    const bool one_host = on_one_host(communicator);
    UdpPlace mine;
    agree(communicator, [&] {
      const auto host = reachable_address(one_host);
      // The windows fit whatever the system grants.
      socket_.emplace(host + ":0", UdpSocket::kReceiveBytes, UdpSocket::SmallBuffer::accept);
      mine = {address_of(host, socket_->port()), socket_->receive_bytes(),
              static_cast<std::uint32_t>(traffic.senders.size())};
    });
    places_ = communicator.all_gather(mine);
    agree(communicator, [&] { make_streams(traffic); });
  }

  bool send(std::size_t target, std::span<const std::byte> message) override { return sending_[target].start(message); }
  bool end(std::size_t target) override { return sending_[target].end(); }

  bool advance(PeerReceiver& receiver) override {
    const auto datagrams = socket_->receive();
    const auto now = steady_ns();
    for (const auto datagram : datagrams) take(datagram, now, receiver);
    for (auto& stream : receiving_) stream.confirm(datagrams.empty());
    bool sent = false;
    for (auto& stream : sending_) sent = stream.work(now) || sent;
    return sent || !datagrams.empty();
  }

  // The other ranks have finished only when they have received everything: the end marks are repeated until then.
  [[nodiscard]] bool finished() const override {
    return std::ranges::all_of(receiving_, [](const UdpReceiving& stream) { return stream.ended(); });
  }

 private:
  static sockaddr_in address_of(const std::string& host, std::uint16_t port) {
    const auto found = resolve_udp(host + ":" + std::to_string(port));
    sockaddr_in address{};
    std::memcpy(&address, &found.address, sizeof address);
    return address;
  }

  void make_streams(const PeerTraffic& traffic) {
    for (const int rank : traffic.targets) {
      sending_of_[rank] = sending_.size();
      const auto limits = limits_to(traffic, rank, places_[static_cast<std::size_t>(rank)]);
      sending_.emplace_back(limits, send_to(rank));
    }
    for (std::size_t i = 0; i < traffic.senders.size(); ++i) {
      const int rank = traffic.senders[i];
      const auto limits = limits_to(traffic, rank, places_[static_cast<std::size_t>(rank_)]);
      receiving_of_[rank] = i;
      receiving_.emplace_back(i, largest_message(traffic), limits, send_to(rank));
    }
  }

  /// The limits of the connection with `rank`; the path has the same MTU in both directions.
  [[nodiscard]] UdpSending::Limits limits_to(const PeerTraffic& traffic, int rank, const UdpPlace& receiver) const {
    return limits_of(traffic, path_mtu(peer_of(rank)), receiver);
  }

  [[nodiscard]] UdpPeer peer_of(int rank) const {
    const auto& address = places_[static_cast<std::size_t>(rank)].address;
    UdpPeer peer;
    std::memcpy(&peer.address, &address, sizeof address);
    peer.length = sizeof address;
    return peer;
  }

  [[nodiscard]] SendDatagram send_to(int rank) const {
    return [this, to = peer_of(rank)](UdpHeader header, std::span<const std::byte> body) {
      header.session = session_;
      header.from = static_cast<std::uint32_t>(rank_);
      return socket_->send_to(to, std::as_bytes(std::span(&header, 1)), body);
    };
  }

  void take(std::span<const std::byte> datagram, std::int64_t now, PeerReceiver& receiver) {
    UdpHeader header;
    if (datagram.size() < sizeof header) return;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.session != session_) return;
    const int from = static_cast<int>(header.from);
    if (header.kind == UdpKind::taken) {
      if (const auto stream = sending_of_.find(from); stream != sending_of_.end()) {
        sending_[stream->second].confirmed(header, now);
      }
    } else if (const auto stream = receiving_of_.find(from); stream != receiving_of_.end()) {
      receiving_[stream->second].take(header, datagram.subspan(sizeof header), receiver);
    }
  }

  int rank_;
  std::uint64_t session_ = 0;
  std::optional<UdpSocket> socket_;
  std::vector<UdpPlace> places_;  ///< one per rank
  std::vector<UdpSending> sending_;
  std::vector<UdpReceiving> receiving_;
  std::map<int, std::size_t> sending_of_;  ///< index, by rank
  std::map<int, std::size_t> receiving_of_;
};

}  // namespace

std::unique_ptr<PeerLink> make_udp_link(const Communicator& communicator, const PeerTraffic& traffic) {
  return std::make_unique<UdpLink>(communicator, traffic);
}

}  // namespace eventloom
