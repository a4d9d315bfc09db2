#include "io/udp/udp_sender.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace eventloom {
namespace {

/// Two sockets: the second receives what the first sends, until its queue is full.
std::array<int, 2> pair_of_sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()), 0);
  return ends;
}

std::size_t received_by(int socket) {
  std::array<std::byte, 64> data{};
  std::size_t n = 0;
  while (::recv(socket, data.data(), data.size(), MSG_DONTWAIT) > 0) ++n;
  return n;
}

TEST(UdpSender, DropsAndCountsWhatAFullSocketDoesNotTake) {
  constexpr std::size_t kSent = 5000;
  constexpr std::size_t kBytes = 40;
  const auto ends = pair_of_sockets();
  {
    UdpSender sender(ends[0], "a pair", kBytes, WhenFull::drop);
    for (std::size_t i = 0; i < kSent; ++i) std::ranges::fill(sender.next(kBytes), std::byte{1});
    sender.flush();
    const auto& count = sender.count();
    EXPECT_EQ(count.datagrams, kSent);
    EXPECT_GT(count.dropped, 0U);
    EXPECT_EQ(count.dropped_bytes, count.dropped * kBytes);
    EXPECT_EQ(count.refused, 0U);
    EXPECT_EQ(received_by(ends[1]), kSent - count.dropped);
    std::ranges::fill(sender.next(kBytes), std::byte{1});
    sender.flush();
    EXPECT_EQ(received_by(ends[1]), 1U) << "there is room again";
  }
  ::close(ends[1]);
}

TEST(UdpSender, ThatDropsIsNotEndedByAnError) {
  const auto ends = pair_of_sockets();
  ::shutdown(ends[1], SHUT_RDWR);
  UdpSender sender(ends[0], "a pair", 8, WhenFull::drop);
  for (int i = 0; i < 3; ++i) {
    std::ranges::fill(sender.next(8), std::byte{1});
    EXPECT_NO_THROW(sender.flush());
  }
  EXPECT_EQ(sender.count().refused, 3U);
  ::close(ends[1]);
}

}  // namespace
}  // namespace eventloom
