#include "io/udp/udp_feed.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "board_maker.hpp"
#include "core/runtime/error.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom::test {

namespace {

/// Sends to a port of this machine.
class Sender {
 public:
  explicit Sender(std::uint16_t port, const std::string& host = "127.0.0.1") {
    const auto to = resolve_udp(host + ":" + std::to_string(port));
    socket_ = ::socket(to.address.ss_family, SOCK_DGRAM, 0);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to.address), to.length), 0);
  }
  ~Sender() { ::close(socket_); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void send(const Bytes& datagram) const {
    EXPECT_EQ(::send(socket_, datagram.data(), datagram.size(), 0), static_cast<ssize_t>(datagram.size()));
  }

 private:
  int socket_ = -1;
};

/// Polls until the condition holds, for at most ten seconds.
bool holds(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

bool ends(LiveFeed& feed, FeedBatch& batch) {
  return holds([&] {
    feed.take(batch);
    return batch.ended;
  });
}

std::uint64_t count(const LiveFeed& feed, const std::string& name) {
  const auto counts = feed.counts().by_name();
  const auto found = counts.find(name);
  return found == counts.end() ? ~0ULL : found->second;
}

std::shared_ptr<UdpPort> port_for(std::vector<std::uint32_t> sources, const std::string& place = "127.0.0.1:0") {
  UdpPortSettings settings;
  settings.place = place;
  settings.sources = std::move(sources);
  settings.buffer_bytes = std::size_t{1} << 20;
  return std::make_shared<UdpPort>(settings, TimeBase{});
}

void expect_user_error(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error that says " << part;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace

TEST(UdpFeed, ABoardIsReceivedFromItsHeaderToItsEnd) {
  const auto port = port_for({});
  UdpFeed feed(port, 0);
  EXPECT_FALSE(feed.header_known());
  EXPECT_FALSE(feed.is_connected());
  const Sender to(port->number());
  BoardMaker board(5);
  StreamHeader header;
  header.source = 5;
  header.payload = PayloadTable::uniform(2);
  to.send(board.header(header, 1234));
  ASSERT_TRUE(holds([&] { return feed.header_known() && feed.is_connected(); }));
  EXPECT_EQ(feed.header(), header);
  EXPECT_EQ(feed.started_ns(), 1234);
  Bytes sent;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto stored = board.buffer(Epoch(i * 3), 2, 20);
    sent.insert(sent.end(), stored.begin(), stored.end());
    for (const auto& datagram : board.data(stored, i, 100)) to.send(datagram);
  }
  to.send(board.mark(DatagramKind::end, 300));
  FeedBatch batch;
  ASSERT_TRUE(ends(feed, batch));
  EXPECT_EQ(batch.buffers, sent);
  EXPECT_EQ(batch.complete, Epoch(300));
  EXPECT_TRUE(batch.damage.empty());
  EXPECT_FALSE(feed.is_connected());
  EXPECT_EQ(count(feed, "buffers"), 100U);
  EXPECT_EQ(count(feed, "hits"), 2000U);
  EXPECT_EQ(count(feed, "datagrams"), 202U);
  EXPECT_EQ(feed.anomalies(), 0U);
}

TEST(UdpFeed, BoardsShareAPort) {
  const auto port = port_for({7, 3});
  UdpFeed seven(port, 0);
  UdpFeed three(port, 1);
  const Sender to(port->number());
  BoardMaker a(7);
  BoardMaker b(3);
  BoardMaker unknown(4);
  for (std::uint64_t i = 0; i < 50; ++i) {
    to.send(a.one(a.buffer(Epoch(i), 1, 2), i));
    to.send(b.one(b.buffer(Epoch(i), 1, 3), i));
    to.send(unknown.one(unknown.buffer(Epoch(i), 1, 3), i));
    to.send(Bytes(i));
  }
  to.send(a.mark(DatagramKind::end, 50));
  FeedBatch from_seven;
  ASSERT_TRUE(ends(seven, from_seven));
  EXPECT_EQ(count(seven, "hits"), 100U);
  EXPECT_TRUE(three.is_connected());
  to.send(b.mark(DatagramKind::end, 50));
  FeedBatch from_three;
  ASSERT_TRUE(ends(three, from_three));
  EXPECT_EQ(headers_in(from_three.buffers).size(), 50U);
  for (const auto& header : headers_in(from_three.buffers)) EXPECT_EQ(header.source, 3U);
  EXPECT_EQ(count(three, "hits"), 150U);
  EXPECT_EQ(count(seven, "foreign"), 50U);
  EXPECT_EQ(count(seven, "malformed"), 50U);
  EXPECT_EQ(seven.counts().by_name().size(), three.counts().by_name().size() + 3);
}

TEST(UdpFeed, StopTakesWhatHasCome) {
  const auto port = port_for({1, 2});
  UdpFeed one(port, 0);
  UdpFeed two(port, 1);
  const Sender to(port->number());
  BoardMaker a(1);
  BoardMaker b(2);
  for (std::uint64_t i = 0; i < 100; ++i) {
    to.send(a.one(a.buffer(Epoch(i), 1, 2), i));
    to.send(b.one(b.buffer(Epoch(i), 1, 3), i));
  }
  a.buffer(100, 1, 8);
  to.send(a.one(a.buffer(101, 1, 9), 101));
  one.stop();
  two.stop();
  FeedBatch from_one;
  FeedBatch from_two;
  ASSERT_TRUE(ends(one, from_one));
  ASSERT_TRUE(ends(two, from_two));
  EXPECT_EQ(headers_in(from_one.buffers).size(), 101U);
  EXPECT_EQ(hits_of(from_one.damage, DropCause::lost), 8U);
  EXPECT_EQ(headers_in(from_two.buffers).size(), 100U);
}

TEST(UdpFeed, AStoppedBoardLeavesTheOthersGoing) {
  const auto port = port_for({1, 2});
  UdpFeed one(port, 0);
  UdpFeed two(port, 1);
  const Sender to(port->number());
  BoardMaker b(2);
  one.stop();
  FeedBatch batch;
  ASSERT_TRUE(ends(one, batch));
  to.send(b.one(b.buffer(0, 1, 3), 0));
  EXPECT_TRUE(holds([&] { return count(two, "hits") == 3; }));
  two.stop();
  FeedBatch rest;
  ASSERT_TRUE(ends(two, rest));
  EXPECT_EQ(headers_in(rest.buffers).size(), 1U);
}

TEST(UdpFeed, MissingDatagramsAreGivenUpWithoutFurtherOnes) {
  const auto port = port_for({1});
  UdpFeed feed(port, 0);
  const Sender to(port->number());
  BoardMaker board(1);
  to.send(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(1, 1, 6);
  to.send(board.one(board.buffer(2, 1, 7), 2));
  FeedBatch batch;
  ASSERT_TRUE(holds([&] {
    feed.take(batch);
    return batch.complete == 3;
  }));
  EXPECT_EQ(hits_of(batch.damage, DropCause::lost), 6U);
}

TEST(UdpFeed, WhatTheSystemDropsIsCounted) {
  UdpPortSettings settings;
  settings.place = "127.0.0.1:0";
  settings.sources = {1};
  settings.buffer_bytes = 1;  // full after the first epoch buffer, so that the thread stops receiving
  settings.receive_bytes = 64 << 10;
  const auto port = std::make_shared<UdpPort>(settings, TimeBase{});
  UdpFeed feed(port, 0);
  const Sender to(port->number());
  BoardMaker board(1);
  constexpr std::uint64_t kSent = 2000;
  for (std::uint64_t i = 0; i < kSent; ++i) to.send(board.one(board.buffer(Epoch(i), 1, 300), i));
  FeedBatch batch;
  std::uint64_t marks = 0;
  // The system reports the loss with the next datagram for which it has room.
  ASSERT_TRUE(holds([&] {
    to.send(board.mark(DatagramKind::end, Epoch(kSent)));
    ++marks;
    feed.take(batch);
    return batch.ended;
  }));
  const auto got = headers_in(batch.buffers).size();
  EXPECT_LT(got, kSent);
  EXPECT_GE(count(feed, "kernel_drops"), kSent - got);
  EXPECT_LE(count(feed, "kernel_drops"), kSent - got + marks);
  EXPECT_EQ(count(feed, "lost_buffers"), kSent - got);
  EXPECT_EQ(count(feed, "lost_hits"), (kSent - got) * 300);
}

TEST(UdpFeed, CanBeDestroyedWithDataNotTaken) {
  UdpPortSettings settings;
  settings.place = "127.0.0.1:0";
  settings.sources = {1, 2};
  settings.buffer_bytes = 1;
  const auto port = std::make_shared<UdpPort>(settings, TimeBase{});
  const Sender to(port->number());
  BoardMaker board(1);
  for (std::uint64_t i = 0; i < 300; ++i) to.send(board.one(board.buffer(Epoch(i), 1, 5), i));
  UdpFeed one(port, 0);
  ASSERT_TRUE(holds([&] { return count(one, "buffers") != 0; }));
}

TEST(UdpFeed, OtherFamiliesAndWrongAddresses) {
  const auto six = port_for({1}, "[::1]:0");
  UdpFeed feed(six, 0);
  const Sender to(six->number(), "[::1]");
  BoardMaker board(1);
  to.send(board.one(board.buffer(0, 1, 5), 0));
  EXPECT_TRUE(holds([&] { return count(feed, "hits") == 5; }));
  const auto taken = "127.0.0.1:" + std::to_string(port_for({1})->number());
  const auto first = port_for({1}, taken);
  expect_user_error([&] { port_for({1}, taken); }, "choose another port");
  expect_user_error([] { port_for({1}, "192.0.2.1:0"); }, "use one of its own");
  for (const auto* wrong : {"", "7000x", "127.0.0.1", "::1:7000", "[]:7000", "1.2.3.4:65536", "a:b:7000", "host:"}) {
    expect_user_error([&] { resolve_udp(wrong); }, "is not a UDP address");
  }
  // A label has at most 63 characters, so that no name server need be asked.
  expect_user_error([] { resolve_udp(std::string(70, 'x') + ":7000"); }, "is unknown");
  EXPECT_EQ(resolve_udp("udp://:7000").text, "127.0.0.1:7000");
  EXPECT_EQ(resolve_udp("//[::1]:7").text, "[::1]:7");
}

TEST(UdpFeed, CountersContinueWhenTheyWrap) {
  WrappingCount drops;
  drops.see(0xfffffff0U);
  drops.see(0x10U);
  EXPECT_EQ(drops.total(), 0x100000010ULL);
}

}  // namespace eventloom::test
