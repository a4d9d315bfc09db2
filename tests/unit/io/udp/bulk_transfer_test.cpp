#include "io/udp/bulk_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "board_maker.hpp"
#include "formats/crc32c.hpp"

namespace eventloom::test {

namespace {

constexpr std::int64_t kMilli = BulkOffers::kFirstPoll_ns / 20;

Bytes random_bytes(std::size_t n) {
  std::mt19937 engine(5);
  Bytes bytes(n);
  for (auto& byte : bytes) byte = static_cast<std::byte>(engine());
  return bytes;
}

/// A transfer, its clock, and the datagrams it has sent.
struct Host {
  explicit Host(Bytes bytes) : file(std::move(bytes)), crc(crc32c(file)), transfer(file, {crc, 1472, 9}, 0) {}

  /// Sends, and returns the datagrams.
  std::vector<Bytes> send() {
    std::deque<Bytes> out;
    transfer.send(now, 1U << 30, [&](std::size_t n) { return std::span(out.emplace_back(n)); });
    return {out.begin(), out.end()};
  }
  void answer(BulkStatus status, std::uint64_t known, std::vector<MissingPiece> missing = {},
              std::uint32_t session = 9) {
    DatagramHeader header{.kind = DatagramKind::status,
                          .source = 7,
                          .session = session,
                          .offset = static_cast<std::uint32_t>(known % kBulkBlockBytes),
                          .sequence = known / kBulkBlockBytes};
    Bytes contents(sizeof status + missing.size() * sizeof(MissingPiece));
    std::memcpy(contents.data(), &status, sizeof status);
    if (!missing.empty()) std::memcpy(contents.data() + sizeof status, missing.data(), contents.size() - sizeof status);
    Bytes bytes(sizeof header + contents.size());
    compose_datagram(header, contents, bytes);
    transfer.take(*read_reply(bytes), now);
  }
  [[nodiscard]] BulkStatus receiving(std::uint64_t bytes, std::uint32_t offer = 1) const {
    return {.bytes = bytes, .crc = crc, .offer = offer};
  }

  Bytes file;
  std::uint32_t crc;
  std::int64_t now = 0;
  BulkTransfer transfer;
};

std::size_t pieces_in(const std::vector<Bytes>& sent) {
  return static_cast<std::size_t>(std::ranges::count_if(
      sent, [](const Bytes& one) { return read_reply(one)->header.kind == DatagramKind::piece; }));
}

}  // namespace

TEST(BulkTransfer, NothingIsSentBeforeTheBoardAnswers) {
  Host host(random_bytes(100'000));
  std::size_t offers = 0;
  for (; !host.transfer.is_over(); host.now += kMilli) {
    const auto sent = host.send();
    EXPECT_EQ(pieces_in(sent), 0U);
    for (const auto& one : sent) EXPECT_EQ(one.size(), 1472U) << "as long as the longest piece";
    offers += sent.size();
  }
  EXPECT_EQ(host.transfer.state(), BulkTransfer::State::silent);
  EXPECT_EQ(host.now, BulkTransfer::kSilence_ns + kMilli);
  EXPECT_GE(offers, 10U);
  EXPECT_LE(offers, 20U);
}

TEST(BulkTransfer, NoMoreIsInFlightThanTheBoardHasRoomFor) {
  Host host(random_bytes(1'000'000));
  host.send();
  auto status = host.receiving(0);
  status.room = 20'000;
  host.answer(status, 0);
  EXPECT_EQ(pieces_in(host.send()), 14U) << "as many as begin within the room";
  EXPECT_EQ(pieces_in(host.send()), 0U);
  status.bytes = 14 * 1432;
  host.answer(status, status.bytes);
  EXPECT_EQ(pieces_in(host.send()), 14U);
  status.room = 4'000'000'000;
  host.answer(status, status.bytes);
  EXPECT_LE(pieces_in(host.send()), BulkPieces::kMostWindow / 1432 + 1);
}

TEST(BulkTransfer, WhatTheBoardHasIsNotSent) {
  Host host(random_bytes(3'000'000));
  host.send();
  host.answer(host.receiving(2'900'000), 2'950'000, {{1, 100, 50'100}});
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i, host.now += kMilli / 10) {
    for (const auto& one : host.send()) bytes += read_reply(one)->contents.size();
  }
  EXPECT_EQ(bytes, 50'000U + 50'000U);
  EXPECT_EQ(host.transfer.had_before(), 2'900'000U);
}

TEST(BulkTransfer, AMissingPieceIsSentAgainNotTooOften) {
  Host host(random_bytes(200'000));
  host.send();
  host.answer(host.receiving(0), 0);
  host.send();
  std::size_t again = 0;
  for (int i = 0; i < 100; ++i, host.now += kMilli) {
    host.answer(host.receiving(30'000), 60'000, {{0, 1432, 2864}});
    for (const auto& one : host.send()) {
      const auto datagram = read_reply(one);
      again += datagram->header.kind == DatagramKind::piece && datagram->header.offset == 1432 ? 1U : 0U;
    }
  }
  EXPECT_EQ(again, 13U) << "every 8 ms";
}

TEST(BulkTransfer, WhatIsLostAtTheEndIsFoundByAnOffer) {
  Host host(random_bytes(10'000));
  host.send();
  host.answer(host.receiving(0), 0);
  EXPECT_EQ(pieces_in(host.send()), 7U);
  host.now += kMilli;
  host.answer(host.receiving(1432), 1432);
  EXPECT_EQ(pieces_in(host.send()), 0U) << "the others are in flight";
  host.now += BulkOffers::kFirstPoll_ns;
  EXPECT_EQ(host.send().size(), 1U) << "an offer";
  host.answer(host.receiving(1432, 1), 1432);
  EXPECT_EQ(pieces_in(host.send()), 0U) << "not the answer to it";
  host.answer(host.receiving(1432, 2), 1432);
  EXPECT_EQ(pieces_in(host.send()), 6U);
}

TEST(BulkTransfer, ABoardThatRestartsGetsAllAgain) {
  Host host(random_bytes(10'000));
  host.send();
  host.answer(host.receiving(0), 0);
  host.send();
  host.answer(host.receiving(5'728), 5'728);
  host.now += BulkOffers::kFirstPoll_ns;
  host.send();
  host.answer(host.receiving(0, 2), 0);
  EXPECT_EQ(pieces_in(host.send()), 7U);
}

TEST(BulkTransfer, StatusesThatContradictTheFileAreIgnored) {
  Host host(random_bytes(10'000));
  host.send();
  host.answer(host.receiving(10'001), 0);
  host.answer(host.receiving(0), 10'001);
  host.answer({.bytes = 0, .crc = host.crc + 1}, 0);
  host.answer(host.receiving(0), 0, {}, 8);
  auto early = host.receiving(9'999);
  early.state = BulkState::complete;
  EXPECT_EQ(host.transfer.state(), BulkTransfer::State::opening);
  host.answer(early, 0);
  EXPECT_FALSE(host.transfer.is_over()) << "not all of it has arrived";
  host.answer(host.receiving(0), 0, {{0, 9, 5}, {0, 20'000, 30'000}, {1, 0, 0}, {~0ULL, 1, 2}});
  EXPECT_EQ(pieces_in(host.send()), 7U) << "only the file";
}

TEST(BulkTransfer, ABoardThatNeverHasEnoughIsGivenUp) {
  Host host(random_bytes(100'000));
  host.send();
  for (std::uint32_t offer = 1; !host.transfer.is_over() && offer < 100'000; host.now += 10 * kMilli) {
    host.answer(host.receiving(0, offer), 0, {{0, 0, 0}});
    for (const auto& one : host.send()) offer += read_reply(one)->header.kind == DatagramKind::offer ? 1U : 0U;
  }
  EXPECT_EQ(host.transfer.state(), BulkTransfer::State::stalled);
  EXPECT_LE(host.transfer.sent_bytes(), 4 * 100'000U + BulkTransfer::kFreeBytes + 300'000U);
}

TEST(BulkOffers, FollowEachOtherMoreSlowlyUntilTheBoardAnswers) {
  BulkOffers offers;
  EXPECT_TRUE(offers.is_due(0, 0));
  EXPECT_EQ(offers.next(0), 1U);
  EXPECT_EQ(offers.offered_ns(), 0);
  EXPECT_FALSE(offers.is_due(BulkOffers::kFirstPoll_ns - 1, 0));
  EXPECT_TRUE(offers.is_due(BulkOffers::kFirstPoll_ns, 0));
  std::int64_t now = BulkOffers::kFirstPoll_ns;
  for (std::uint32_t n = 2; n < 20; ++n, now += BulkOffers::kLastPoll_ns) EXPECT_EQ(offers.next(now), n);
  now -= BulkOffers::kLastPoll_ns;
  EXPECT_FALSE(offers.is_due(now + BulkOffers::kLastPoll_ns - 1, 0));
  EXPECT_TRUE(offers.is_due(now + BulkOffers::kLastPoll_ns, 0));
  offers.note_answer(0);
  EXPECT_TRUE(offers.is_due(now + BulkOffers::kFirstPoll_ns, 0));
  EXPECT_FALSE(offers.is_due(now + BulkOffers::kFirstPoll_ns, now + 1)) << "the board has just answered";
  offers.note_answer(2 * BulkOffers::kFirstPoll_ns);
  EXPECT_FALSE(offers.is_due(now + BulkOffers::kFirstPoll_ns, 0)) << "its answers take longer";
}

TEST(BulkPieces, SendsNoMoreThanAskedAndThenGoesOn) {
  const auto file = random_bytes(10'000);
  BulkPieces pieces(file, 1472, 9);
  pieces.note_offer();
  Bytes got;
  const auto send = [&](std::uint64_t most) {
    std::deque<Bytes> out;
    pieces.send(most, [&](std::size_t n) { return std::span(out.emplace_back(n)); });
    for (const auto& one : out) {
      const auto contents = read_reply(one)->contents;
      got.insert(got.end(), contents.begin(), contents.end());
    }
    return out.size();
  };
  EXPECT_EQ(send(0), 0U);
  EXPECT_TRUE(pieces.none_since_offer());
  EXPECT_EQ(send(1), 1U);
  EXPECT_FALSE(pieces.none_since_offer());
  EXPECT_EQ(send(1433), 2U);
  EXPECT_EQ(send(1'000'000), 4U);
  EXPECT_EQ(got, file);
  EXPECT_EQ(pieces.sent_bytes(), file.size());
}

}  // namespace eventloom::test
