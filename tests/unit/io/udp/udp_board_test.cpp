#include "io/udp/udp_board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "board_maker.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom::test {

namespace {

UdpPeer address(int number) {
  const auto resolved = resolve_udp("127.0.0.1:700" + std::to_string(number));
  return {resolved.address, resolved.length};
}

const UdpPeer kOwn = address(1);
const UdpPeer kOther = address(2);
const UdpPeer kThird = address(3);

/// A board that receives datagrams at times that the test sets. Each one arrives alone.
struct Port {
  void take(const Bytes& bytes, const UdpPeer& from) {
    const auto datagram = read_datagram(bytes);
    ASSERT_TRUE(datagram);
    board.take(*datagram, from, now);
    wait(0);
  }
  void wait(std::int64_t ns) {
    now += ns;
    board.pass_time(now);
    board.hand_over(true);
    board.queue().take(out);
  }
  std::uint64_t count(Metric metric) { return board.counters()[metric]; }
  [[nodiscard]] std::size_t buffers() const { return headers_in(out.buffers).size(); }

  UdpBoard board{"board", TimeBase{}, {}, std::size_t{64} << 20};
  FeedBatch out;
  std::int64_t now = 100'000'000'000;
};

/// A board of session 1 that has sent its header and one epoch buffer of five hits.
struct Sending : Port {
  explicit Sending(const UdpPeer& from = kOwn) : own(from) {
    take(maker.header({}), own);
    next();
  }
  void next() {
    const auto n = maker.sequence();
    take(maker.one(maker.buffer(Epoch(10 * n), 1, 5), n), own);
  }
  void expect_as_if_undisturbed() {
    next();
    wait(BoardStream::kPatience_ns);
    take(maker.mark(DatagramKind::end, 100), own);
    EXPECT_TRUE(out.ended);
    EXPECT_EQ(out.complete, Epoch(100));
    EXPECT_EQ(buffers(), maker.sequence());
    EXPECT_TRUE(out.damage.empty());
    EXPECT_EQ(count(Metric::restarts), 0U);
    EXPECT_EQ(count(Metric::after_end), 0U);
  }
  BoardMaker maker{3, 1};
  UdpPeer own;
};

}  // namespace

TEST(UdpBoard, AnEndIsBelievedOnlyOfTheSessionThatItEnds) {
  const BoardMaker blind(3, 12345);
  Sending to;
  to.take(blind.mark(DatagramKind::end, 0, {0, 0}), kOther);
  to.take(blind.mark(DatagramKind::end, 0, {0, 0}), kOwn);
  EXPECT_EQ(to.count(Metric::foreign), 2U);
  to.wait(2 * BoardPeer::kSilence_ns);
  to.take(blind.mark(DatagramKind::end, 0, {0, 0}), kOther);
  EXPECT_EQ(to.count(Metric::foreign), 3U) << "nor when the board is silent";
  EXPECT_EQ(to.board.anomalies(), 0U) << "no hits are concerned";
  to.expect_as_if_undisturbed();

  Port nobody;
  nobody.take(blind.mark(DatagramKind::end, 0, {0, 0}), kOther);
  EXPECT_FALSE(nobody.board.ended());
  EXPECT_FALSE(nobody.board.heard());
}

TEST(UdpBoard, NothingOfAStrangerChangesABoardUnderWay) {
  for (const std::uint32_t session : {1U, 2U}) {
    for (const auto kind : {DatagramKind::header, DatagramKind::mark, DatagramKind::end, DatagramKind::data}) {
      BoardMaker stranger(3, session);
      StreamHeader other;
      other.base.tick_ps = 10;
      const auto data = stranger.one(stranger.buffer(7, 1, 100), 1);
      Sending to;
      to.take(kind == DatagramKind::header ? stranger.header(other)
              : kind == DatagramKind::data ? data
                                           : stranger.mark(kind, 1, {50, 1000}),
              kOther);
      to.next();
      EXPECT_EQ(to.count(Metric::foreign), 1U);
      EXPECT_EQ(to.board.anomalies(), kind == DatagramKind::data ? 1U : 0U) << "it may have been the board's";
      to.expect_as_if_undisturbed();
    }
  }
}

TEST(UdpBoard, ABoardMayRestartAtOnce) {
  Sending to;
  BoardMaker again(3, 2);
  to.take(again.one(again.buffer(20, 1, 7), 0), kOwn);
  EXPECT_EQ(to.buffers(), 2U);
  EXPECT_EQ(to.count(Metric::restarts), 1U);
  EXPECT_EQ(to.count(Metric::foreign), 0U);
}

/// Nothing is lost of what it sends while its silence at the old address is not certain yet.
TEST(UdpBoard, ABoardMayRestartElsewhere) {
  Sending to;
  BoardMaker again(3, 2);
  to.take(again.header({}), kOther);
  for (std::uint64_t n = 0; n < 5; ++n) to.take(again.one(again.buffer(Epoch(20 + n), 1, 7), n), kOther);
  to.take(again.mark(DatagramKind::end, 30), kOther);
  EXPECT_EQ(to.buffers(), 1U);
  EXPECT_TRUE(to.board.waiting());
  to.wait(BoardPeer::kSilence_ns);
  EXPECT_EQ(to.buffers(), 6U);
  EXPECT_FALSE(to.out.ended) << "the board may still be back";
  EXPECT_TRUE(to.board.waiting());
  to.wait(BoardSuccessor::kEndWaits_ns);
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.count(Metric::restarts), 1U);
  EXPECT_EQ(to.count(Metric::foreign), 0U);
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 0U);
}

/// As during a pause of the beam. Whatever else it sends, the board is back when it is heard again.
TEST(UdpBoard, AStrangerEndsNoSilentBoard) {
  const StreamHeader header;
  for (const std::uint32_t session : {1U, 2U}) {
    for (const auto* before : {"", "header", "mark", "data"}) {
      SCOPED_TRACE(std::to_string(session) + before);
      if (session == 1 && std::string(before) == "data") continue;  // it continues the board's own data
      Sending to;
      BoardMaker stranger(3, session);
      const auto hits = session == 1 ? to.maker.hits() : 0;
      const auto sequence = session == 1 ? to.maker.sequence() : 0;
      to.wait(BoardPeer::kSilence_ns);
      if (before == std::string("header")) to.take(stranger.header(header), kOther);
      if (before == std::string("mark")) to.take(stranger.mark(DatagramKind::mark, sequence, {2, hits}), kOther);
      if (before == std::string("data")) to.take(stranger.one(stranger.buffer(5, 1, 7), 0), kOther);
      const bool with_data = before == std::string("data");
      for (int i = 0; i < 3; ++i) {
        to.take(stranger.mark(DatagramKind::end, with_data ? 1 : sequence, {6, with_data ? 7 : hits}), kOther);
      }
      to.wait(BoardPeer::kSilence_ns);
      EXPECT_FALSE(to.board.ended());
      for (int i = 0; i < 4; ++i) to.next();
      to.wait(2 * BoardSuccessor::kEndWaits_ns);
      EXPECT_FALSE(to.board.ended());
      EXPECT_EQ(to.buffers(), to.maker.sequence() + (with_data ? 1 : 0));
      EXPECT_EQ(to.count(Metric::foreign), with_data ? 0U : 3U);
    }
  }
}

TEST(UdpBoard, ABoardMayMoveWhenItHasBeenSilent) {
  Sending to;
  to.wait(BoardPeer::kSilence_ns);
  to.own = kOther;
  to.next();
  EXPECT_EQ(to.buffers(), 2U);
  to.take(to.maker.mark(DatagramKind::mark, 50), kOwn);
  to.expect_as_if_undisturbed();
  EXPECT_EQ(to.count(Metric::foreign), 1U) << "from the old address";
}

TEST(UdpBoard, AStrangerIsNamedAFewTimes) {
  testing::internal::CaptureStdout();
  Sending to;
  for (int i = 0; i < 10; ++i) {
    to.take(to.maker.mark(DatagramKind::mark, 50), kOther);
    to.next();
  }
  const auto said = testing::internal::GetCapturedStdout();
  EXPECT_NE(said.find("from 127.0.0.1:7002 (the board sends from 127.0.0.1:7001) is ignored"), std::string::npos);
  EXPECT_EQ(std::ranges::count(said, '\n'), 3) << said;
  EXPECT_EQ(to.count(Metric::foreign), 10U);
}

TEST(UdpBoard, OnlyOneOtherAddressIsWaitedFor) {
  Sending to;
  const BoardMaker stranger(3, 7);
  BoardMaker again(3, 2);
  to.take(stranger.mark(DatagramKind::mark, 0, {0, 0}), kThird);
  to.take(again.one(again.buffer(20, 1, 7), 0), kOther);
  EXPECT_EQ(to.count(Metric::foreign), 1U);
  EXPECT_EQ(to.board.anomalies(), 1U);
}

TEST(UdpBoard, ManyDatagramsOfStrangersTakeLittleMemory) {
  Sending to;
  BoardMaker stranger(3, 7);
  const auto datagram = stranger.one(stranger.buffer(20, 1, 4000), 0);
  const auto fit = BoardClaim::kMostBytes / datagram.size();
  for (std::size_t i = 0; i < fit + 10; ++i) to.take(datagram, kOther);
  EXPECT_GE(to.count(Metric::foreign), 10U);
  EXPECT_LE(to.count(Metric::foreign), 100U);
  to.next();
  EXPECT_EQ(to.count(Metric::foreign), fit + 10);
  to.expect_as_if_undisturbed();
}

TEST(UdpBoard, WhatIsNotKnownToBeTheBoardsAtTheEndIsForeign) {
  Sending to;
  BoardMaker again(3, 2);
  to.take(again.one(again.buffer(20, 1, 7), 0), kOther);
  to.board.finish();
  to.wait(0);
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.buffers(), 1U);
  EXPECT_EQ(to.count(Metric::foreign), 1U);
  EXPECT_EQ(to.board.anomalies(), 1U);
}

}  // namespace eventloom::test
