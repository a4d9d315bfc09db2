#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "board_maker.hpp"
#include "io/udp/board_peer.hpp"
#include "io/udp/board_stream.hpp"
#include "io/udp/resend_requests.hpp"
#include "io/udp/resend_window.hpp"

namespace eventloom::test {

namespace {

constexpr std::int64_t kAskStep = 1'000'000;
using Pieces = std::vector<MissingPiece>;

/// A stream that receives datagrams, and the requests that it sends.
struct Asker {
  void take(const Bytes& bytes) {
    const auto datagram = read_datagram(bytes);
    ASSERT_TRUE(datagram);
    stream.take(*datagram, now, out);
  }
  /// The pieces requested now.
  Pieces ask(std::size_t most_bytes = 5000) {
    const auto request = read_reply(stream.request(now, most_bytes));
    return request ? missing_pieces_of(*request) : Pieces();
  }
  Pieces ask_after(std::int64_t ns) {
    now += ns;
    stream.pass_time(now, out);
    return ask();
  }

  BoardHeader header{TimeBase{}, {}};
  BoardStream stream{"board", header};
  FeedBatch out;
  std::int64_t now = 1'000'000 * kAskStep;
};

/// The header datagram of a board that accepts requests.
Bytes announcement(const BoardMaker& board, bool begins = false) {
  StreamHeader header;
  header.source = 3;
  return board.compose({.kind = DatagramKind::header}, encode_datagram_stream({0, header, true, begins}, 1400));
}

UdpPeer peer(std::uint8_t number) {
  UdpPeer peer;
  reinterpret_cast<std::uint8_t&>(peer.address) = number;
  peer.length = 16;
  return peer;
}

/// A window of datagrams with one fragment each, `bytes` in total.
struct Window {
  explicit Window(std::size_t capacity) : window(capacity) {}
  void add(std::uint64_t sequence, std::uint32_t offset, std::size_t bytes) {
    DatagramHeader header{.offset = offset, .sequence = sequence, .buffer_bytes = 4096};
    Bytes datagram(bytes);
    compose_datagram(header, Bytes(bytes - sizeof header), datagram);
    window.add(header, datagram);
  }
  /// (number, offset) of the datagrams that are resent.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> again(const MissingPiece& piece, std::int64_t now) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> sent;
    window.select(piece, now, [&](std::span<const std::byte> bytes) {
      const auto datagram = read_datagram(bytes);
      ASSERT_TRUE(datagram) << "as it was sent";
      sent.emplace_back(datagram->header.sequence, datagram->header.offset);
    });
    return sent;
  }
  ResendWindow window;
};

}  // namespace

TEST(Resend, WhatIsMissingIsRequestedSoonAndAgain) {
  Asker to;
  BoardMaker board(3);
  to.take(announcement(board));
  const auto a = board.buffer(0, 1, 5);
  const auto b = board.buffer(10, 1, 100);
  const auto c = board.buffer(20, 1, 9);
  to.take(board.one(a, 0));
  to.take(board.one(c, 2));
  EXPECT_EQ(to.ask(), Pieces()) << "it may have been overtaken";
  EXPECT_EQ(to.ask_after(ResendRequests::kPatience_ns), (Pieces{{1, 0, 0}}));
  EXPECT_EQ(to.ask_after(ResendRequests::kAgain_ns - 1), Pieces());
  EXPECT_EQ(to.ask_after(1), (Pieces{{1, 0, 0}}));
  to.take(board.data(b, 1, 64)[1]);
  EXPECT_EQ(to.ask_after(ResendRequests::kPause_ns), Pieces()) << "other pieces: seen for the first time";
  const auto bytes = static_cast<std::uint32_t>(b.size());
  EXPECT_EQ(to.ask_after(ResendRequests::kPatience_ns), (Pieces{{1, 0, 64}, {1, 128, bytes}}));
  for (const auto& one : board.data(b, 1, 64)) to.take(one);
  EXPECT_EQ(to.ask_after(kAskStep), Pieces());
  EXPECT_EQ(headers_in(to.out.buffers).size(), 3U);
  EXPECT_TRUE(to.out.damage.empty());
  EXPECT_EQ(to.stream.counters()[Metric::pieces_requested], 4U);
  EXPECT_GT(to.stream.counters()[Metric::pieces_recovered], 0U);
}

TEST(Resend, NothingIsRequestedOfABoardThatDoesNotTakeRequests) {
  Asker to;
  BoardMaker board(3);
  StreamHeader plain;
  plain.source = 3;
  to.take(board.header(plain));
  const auto a = board.buffer(0, 1, 5);
  board.buffer(10, 1, 7);
  to.take(board.one(a, 0));
  to.take(board.one(board.buffer(20, 1, 9), 2));
  for (std::int64_t ns = 0; ns < BoardStream::kPatience_ns; ns += kAskStep) EXPECT_EQ(to.ask_after(kAskStep), Pieces());
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 7U) << "given up as soon as possible";
}

TEST(Resend, TheGapIsGivenUpInTheEndAndCounted) {
  Asker to;
  BoardMaker board(3);
  to.take(announcement(board));
  to.take(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(10, 1, 7);
  to.take(board.one(board.buffer(20, 1, 9), 2));
  std::uint64_t requests = 0;
  std::int64_t ns = 0;
  for (; to.out.damage.empty(); ns += kAskStep) requests += to.ask_after(kAskStep).size();
  EXPECT_EQ(ns, BoardStream::kResendPatience_ns);
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 7U);
  EXPECT_GE(requests, 25U);
  EXPECT_LE(requests, 32U);
}

TEST(Resend, AMarkShowsWhatIsMissingAtTheEnd) {
  Asker to;
  BoardMaker board(3);
  to.take(announcement(board));
  to.take(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(10, 1, 7);
  to.take(board.mark(DatagramKind::end, 20));
  to.ask();
  EXPECT_EQ(to.ask_after(kAskStep), (Pieces{{1, 0, 0}}));
}

TEST(Resend, APieceThatComesTwiceMayComeAfterTheEnd) {
  Asker to;
  BoardMaker board(3);
  to.take(announcement(board));
  const auto piece = board.one(board.buffer(0, 1, 5), 0);
  to.take(piece);
  to.take(board.mark(DatagramKind::end, 20));
  to.take(piece);
  EXPECT_EQ(to.stream.counters()[Metric::after_end], 0U);
  to.take(board.one(board.buffer(30, 1, 5), 1));
  EXPECT_EQ(to.stream.counters()[Metric::after_end], 1U) << "data not sent before";
}

TEST(Resend, ThePastIsRequestedOnlyOfASessionThatHasJustBegun) {
  for (const bool begins : {false, true}) {
    Asker to;
    BoardMaker board(3);
    to.take(announcement(board, begins));
    to.take(announcement(board, false));
    Bytes last;
    for (std::uint64_t i = 0; i <= 20; ++i) last = board.buffer(Epoch(10 * i), 1, 5);
    to.take(board.one(last, 20));
    to.ask();
    EXPECT_EQ(to.ask_after(ResendRequests::kPatience_ns).size(), begins ? 20U : 0U);
  }
}

TEST(Resend, ARequestKeepsToItsRoom) {
  Asker to;
  BoardMaker board(3);
  to.take(announcement(board));
  to.take(board.one(board.buffer(0, 1, 5), 0));
  for (std::uint64_t i = 1; i <= 500; ++i) board.buffer(Epoch(10 * i), 1, 7);
  to.take(board.mark(DatagramKind::mark, 10'000));
  to.ask();
  to.now += kAskStep;
  EXPECT_EQ(to.ask(55), Pieces()) << "no room for a piece";
  EXPECT_EQ(to.ask(56 + 15).size(), 1U);
  EXPECT_EQ(to.ask(5000).size(), 0U) << "too soon after the last";
  to.now += kAskStep;
  const auto next = to.ask(1U << 20);
  ASSERT_EQ(next.size(), kMostMissingPieces);
  EXPECT_EQ(next.front().sequence, 2U);
}

TEST(Resend, RequestsGoToTheAddressOfTheBoardAndAreNoMoreThanHalf) {
  BoardPeer board;
  EXPECT_FALSE(board.is_other(peer(1))) << "it may be anywhere";
  board.note(peer(1), 1000, 0);
  EXPECT_EQ(board.may_send(), 500U);
  board.note_sent(400);
  EXPECT_FALSE(board.is_other(peer(1)));
  EXPECT_TRUE(board.is_other(peer(2)));
  EXPECT_FALSE(board.is_silent(BoardPeer::kSilence_ns - 1));
  EXPECT_TRUE(board.is_silent(BoardPeer::kSilence_ns));
  board.note(peer(2), 300, BoardPeer::kSilence_ns);
  EXPECT_TRUE(board.address() == peer(2)) << "the board has moved";
  EXPECT_EQ(board.may_send(), 150U) << "data received from there";
  EXPECT_FALSE(board.is_silent(BoardPeer::kSilence_ns));
}

TEST(ResendWindow, WhatOverlapsThePieceIsSentAgain) {
  Window of(10'000);
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
    for (std::uint32_t offset = 0; offset < 300; offset += 100) of.add(sequence, offset, 140);
  }
  using Sent = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  EXPECT_EQ(of.again({1, 0, 0}, 0), (Sent{{1, 0}, {1, 100}, {1, 200}}));
  EXPECT_EQ(of.again({2, 99, 101}, 0), (Sent{{2, 0}, {2, 100}}));
  EXPECT_EQ(of.again({0, 200, 201}, 0), (Sent{{0, 200}}));
  EXPECT_EQ(of.again({0, 300, 400}, 0), Sent());
  EXPECT_EQ(of.again({0, 200, 100}, 0), Sent());
  EXPECT_EQ(of.again({7, 0, 0}, 0), Sent());
}

TEST(ResendWindow, RepeatedRequestsAreBounded) {
  Window of(1U << 20);
  std::uint64_t bytes = ResendWindow::kFreeBytes;
  for (std::uint64_t sequence = 0; sequence < 100; ++sequence, bytes += 1000) of.add(sequence, 0, 1000);
  EXPECT_EQ(of.again({5, 0, 0}, 0).size(), 1U);
  EXPECT_EQ(of.again({5, 0, 0}, ResendWindow::kPause_ns - 1).size(), 0U);
  std::map<std::uint64_t, std::uint32_t> times{{5, 1}};
  std::uint64_t sent = 1000;
  for (std::int64_t now = ResendWindow::kPause_ns; now < 100 * ResendWindow::kPause_ns;
       now += ResendWindow::kPause_ns) {
    for (std::uint64_t sequence = 0; sequence < 100; ++sequence) {
      const auto n = static_cast<std::uint32_t>(of.again({sequence, 0, 0}, now).size());
      times[sequence] += n;
      sent += 1000 * n;
    }
  }
  EXPECT_LE(sent, bytes);
  EXPECT_GT(sent + 1000, bytes) << "up to the bound";
  for (const auto& [sequence, n] : times) EXPECT_LE(n, ResendWindow::kMostTimes);
}

TEST(ResendWindow, KeepsTheLastDatagramsOfAnySize) {
  constexpr std::size_t kRoom = 10'000;
  constexpr std::size_t kLargest = 3000;
  for (std::uint64_t last = 0; last < 200; ++last) {
    std::mt19937 engine(5);
    Window of(kRoom);
    std::vector<std::size_t> sizes;
    for (std::uint64_t sequence = 0; sequence <= last; ++sequence) {
      sizes.push_back(41 + engine() % (kLargest - 41));
      of.add(sequence, 0, sizes.back());
    }
    // The gap at the end of the ring and the space of the oldest datagram are each smaller than the largest datagram.
    std::size_t bytes = 0;
    for (auto back = last + 1; back-- > 0 && bytes + sizes[back] <= kRoom - 2 * kLargest;) {
      bytes += sizes[back];
      EXPECT_EQ(of.again({back, 0, 0}, 0).size(), 1U) << back << " of " << last;
    }
  }
}

TEST(ResendWindow, ZeroKeepsNothing) {
  Window of(0);
  of.add(0, 0, 100);
  EXPECT_TRUE(of.again({0, 0, 0}, 0).empty());
}

}  // namespace eventloom::test
