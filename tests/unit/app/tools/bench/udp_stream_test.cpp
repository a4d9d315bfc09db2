#include "app/tools/bench/udp_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace eventloom {
namespace {

struct Datagram {
  UdpHeader header;
  std::vector<std::byte> body;
};

/// One connection over a path that loses and reorders datagrams in both directions. Time is simulated.
class Connection {
 public:
  Connection(const PeerTraffic& traffic, UdpSending::Limits limits, double lost, double swapped)
      : receiver(traffic),
        lost_(lost),
        swapped_(swapped),
        pool_(pool_of(traffic, 0)),
        sending_(limits, to(there_)),
        receiving_(0, largest_message(traffic), limits, to(back_)) {}

  /// Sends this many messages and the end, and returns when the end has arrived.
  void run(std::uint64_t messages) {
    bool end_sent = false;
    for (int turn = 0; turn < 1'000'000 && !receiving_.ended(); ++turn) {
      now_ += 1'000'000;
      while (sent < messages && sending_.start(pool_.message(sent))) ++sent;
      if (sent == messages && !end_sent) end_sent = sending_.end();
      sending_.work(now_);
      most_in_flight = std::max<std::size_t>(most_in_flight, std::ranges::count_if(there_, is_data));
      const bool idle = there_.empty();
      deliver(there_, [&](const Datagram& one) { receiving_.take(one.header, one.body, receiver); });
      receiving_.confirm(idle);
      deliver(back_, [&](const Datagram& one) { sending_.confirmed(one.header, now_); });
    }
  }

  PeerReceiver receiver;
  std::uint64_t sent = 0;
  std::size_t most_in_flight = 0;

 private:
  SendDatagram to(std::deque<Datagram>& queue) {
    return [&](const UdpHeader& header, std::span<const std::byte> body) {
      if (chance() < refused_) return false;
      if (chance() < lost_) return true;
      queue.push_back({header, {body.begin(), body.end()}});
      if (queue.size() > 1 && chance() < swapped_) std::swap(queue.back(), queue[queue.size() - 2]);
      return true;
    };
  }

  static bool is_data(const Datagram& one) { return one.header.kind == UdpKind::data; }

  template <class Take>
  static void deliver(std::deque<Datagram>& queue, Take take) {
    for (; !queue.empty(); queue.pop_front()) take(queue.front());
  }

  double chance() { return std::uniform_real_distribution<>()(random_); }

  double lost_;
  double swapped_;
  double refused_ = 0.1;  ///< share of datagrams that the system refuses for lack of room
  std::mt19937 random_{1};
  std::int64_t now_ = 0;
  PayloadPool pool_;
  std::deque<Datagram> there_;
  std::deque<Datagram> back_;
  UdpSending sending_;
  UdpReceiving receiving_;
};

PeerTraffic traffic_of(std::uint64_t bytes, std::uint32_t queue) {
  PeerTraffic traffic;
  traffic.senders = {0};
  traffic.message_bytes = bytes;
  traffic.queue = queue;
  traffic.spread = 0.5;
  traffic.receive = Receive::verify;
  return traffic;
}

TEST(UdpStream, CarriesEveryMessageOverAGoodPath) {
  for (const std::uint64_t bytes : {1ULL, 99ULL, 100ULL, 1000ULL, 12'345ULL}) {
    for (const std::uint32_t queue : {1U, 2U, 8U}) {
      for (const std::uint64_t window : {1ULL, 3ULL, 1000ULL}) {
        Connection connection(traffic_of(bytes, queue), {queue, window, 100}, 0, 0);
        connection.run(200);
        const auto& result = connection.receiver.result();
        EXPECT_EQ(result.messages_received, 200U) << bytes << " bytes, queue " << queue << ", window " << window;
        EXPECT_EQ(result.messages_lost + result.messages_wrong, 0U);
        EXPECT_LE(connection.most_in_flight, window);
      }
    }
  }
}

TEST(UdpStream, CountsWhatAPathLoses) {
  for (const std::uint64_t bytes : {1ULL, 100ULL, 1000ULL}) {
    for (const std::uint32_t queue : {1U, 8U}) {
      for (const double lost : {0.01, 0.3}) {
        Connection connection(traffic_of(bytes, queue), {queue, 20, 100}, lost, 0);
        connection.run(2000);
        const auto& result = connection.receiver.result();
        EXPECT_EQ(connection.sent, 2000U);
        EXPECT_EQ(result.messages_received + result.messages_lost, 2000U) << bytes << " bytes, queue " << queue;
        EXPECT_EQ(result.messages_wrong, 0U);
        EXPECT_GT(result.messages_lost, 0U);
        EXPECT_GT(result.messages_received, 0U);
      }
    }
  }
}

TEST(UdpStream, CountsDatagramsThatOthersOvertakeAsLost) {
  Connection connection(traffic_of(1000, 8), {8, 20, 100}, 0.01, 0.05);
  connection.run(2000);
  const auto& result = connection.receiver.result();
  EXPECT_EQ(result.messages_received + result.messages_lost, 2000U);
  EXPECT_EQ(result.messages_wrong, 0U);
  EXPECT_GT(result.messages_lost, 100U);
}

}  // namespace
}  // namespace eventloom
