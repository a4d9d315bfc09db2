#include "io/udp/board_stream.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "board_maker.hpp"
#include "formats/crc32c.hpp"

namespace eventloom::test {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// For the default time base of 10 us per epoch.
constexpr Epoch kEpochsPerSecond = 100'000;

/// A stream that receives datagrams at times that the test sets.
struct Receiver {
  void take(const Bytes& bytes) {
    const auto datagram = read_datagram(bytes);
    ASSERT_TRUE(datagram);
    stream.take(*datagram, now, out);
  }
  void wait(std::int64_t ns) {
    now += ns;
    stream.pass_time(now, out);
  }
  [[nodiscard]] std::vector<std::uint64_t> sequences() const {
    std::vector<std::uint64_t> list;
    for (const auto& one : headers_in(out.buffers)) list.push_back(one.sequence);
    return list;
  }
  [[nodiscard]] std::uint64_t dropped(DropCause cause) const {
    return stream.counters()[cause == DropCause::late          ? Metric::late_buffers
                             : cause == DropCause::out_of_step ? Metric::out_of_step_buffers
                                                               : Metric::corrupt_buffers];
  }

  BoardHeader header{TimeBase{}, {}};
  BoardStream stream{"board", header};
  FeedBatch out;
  std::int64_t now = 100'000 * kMillisecond;
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST(BoardStream, WhatIsMissingIsWaitedForAndNoLonger) {
  Receiver to;
  BoardMaker board(3);
  const auto a = board.buffer(0, 1, 5);
  const auto b = board.buffer(10, 1, 7);
  const auto c = board.buffer(20, 2, 9);
  to.take(board.one(a, 0));
  to.take(board.one(c, 2));
  EXPECT_EQ(to.sequences(), Numbers{0});
  EXPECT_EQ(to.out.complete, Epoch(1));
  to.wait(BoardStream::kPatience_ns - 1);
  EXPECT_EQ(to.sequences(), Numbers{0});
  to.wait(1);
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(to.out.complete, Epoch(22));
  ASSERT_EQ(to.out.damage.size(), 1U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(1));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(19));
  EXPECT_EQ(to.out.damage[0].n_hits, 7U);
  to.take(board.one(b, 1));
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(to.stream.counters()[Metric::duplicates], 1U);
}

TEST(BoardStream, ASlowlySentBufferIsNotGivenUp) {
  Receiver to;
  BoardMaker board(3);
  const auto fragments = board.data(board.buffer(0, 1, 100), 0, 64);
  for (const auto& fragment : fragments) {
    to.take(fragment);
    to.wait(BoardStream::kPatience_ns / 2);
  }
  EXPECT_EQ(to.sequences(), Numbers{0});
}

TEST(BoardStream, AMarkShowsTheLossOfTheLastDatagrams) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(7, 1, 6);
  to.take(board.mark(DatagramKind::mark, 30));
  EXPECT_EQ(to.out.complete, Epoch(1));
  to.wait(BoardStream::kPatience_ns);
  EXPECT_EQ(to.out.complete, Epoch(30));
  ASSERT_EQ(to.out.damage.size(), 1U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(1));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(29));
  EXPECT_EQ(to.out.damage[0].n_hits, 6U);
  EXPECT_EQ(to.stream.counters()[Metric::lost_buffers], 1U);
}

TEST(BoardStream, FurtherMarksDoNotMakeItWaitLonger) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(7, 1, 6);
  for (Epoch epoch = 10; epoch < 15; ++epoch) {
    to.take(board.mark(DatagramKind::mark, epoch));
    to.wait(BoardStream::kPatience_ns / 4);
  }
  EXPECT_EQ(to.stream.counters()[Metric::lost_buffers], 1U);
  EXPECT_EQ(to.out.complete, Epoch(14));
}

TEST(BoardStream, MarksOfAQuietBoardMoveItsEpochs) {
  Receiver to;
  const BoardMaker board(3);
  to.take(board.mark(DatagramKind::mark, 0, {100, 0}));
  EXPECT_EQ(to.out.complete, Epoch(100));
  to.take(board.mark(DatagramKind::mark, 0, {90, 0}));
  EXPECT_EQ(to.out.complete, Epoch(100));
  to.take(board.mark(DatagramKind::end, 0, {120, 0}));
  EXPECT_EQ(to.out.complete, Epoch(120));
  EXPECT_TRUE(to.out.ended);
  EXPECT_TRUE(to.out.damage.empty());
  to.take(board.mark(DatagramKind::end, 0, {120, 0}));
  EXPECT_EQ(to.stream.counters()[Metric::after_end], 0U);
}

TEST(BoardStream, WhoJoinsLateOwesOnlyTheEpochs) {
  Receiver to;
  BoardMaker board(3);
  board.buffer(3, 1, 50);
  const auto b = board.buffer(40, 1, 5);
  to.take(board.one(b, 1));
  to.wait(BoardStream::kPatience_ns);
  EXPECT_EQ(to.sequences(), Numbers{1});
  ASSERT_EQ(to.out.damage.size(), 1U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(0));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(40));
  EXPECT_EQ(to.out.damage[0].n_hits, 0U);
  EXPECT_EQ(to.stream.counters()[Metric::lost_buffers], 0U);

  Receiver whole;
  BoardMaker other(3);
  whole.take(other.one(other.buffer(40, 1, 5), 0));
  EXPECT_TRUE(whole.out.damage.empty());
}

TEST(BoardStream, WhoJoinsAtAMarkOwesTheEpochsBeforeIt) {
  Receiver to;
  BoardMaker board(3);
  board.buffer(3, 1, 50);
  to.take(board.mark(DatagramKind::mark, 40));
  to.wait(BoardStream::kPatience_ns);
  EXPECT_EQ(to.out.complete, Epoch(40));
  ASSERT_EQ(to.out.damage.size(), 1U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(0));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(40));
  EXPECT_EQ(to.out.damage[0].n_hits, 0U);
  EXPECT_EQ(to.out.damage[0].cause, DropCause::lost);
}

/// Its header came, then data or marks of which the first are missing. They are part of the run, which begins with the
/// first buffer received; of a board that has long been sending, they are not.
TEST(BoardStream, TheFirstBuffersOfABoardWhoseHeaderCameAreLost) {
  for (const bool marks : {false, true}) {
    for (const std::uint64_t lost : {std::uint64_t{3}, BoardSession::kFirstBuffers}) {
      Receiver to;
      BoardMaker board(3);
      to.take(board.header({}));
      for (std::uint64_t n = 0; n < lost; ++n) {
        board.buffer(Epoch(10 * n), 1, 5);
        const bool told = marks && (lost < BoardSession::kFirstBuffers || n + 1 == lost);
        if (told) to.take(board.mark(DatagramKind::mark, Epoch(10 * n + 1)));
        to.wait(BoardStream::kPatience_ns);
      }
      to.take(board.one(board.buffer(100, 1, 7), lost));
      to.wait(BoardStream::kPatience_ns);
      EXPECT_EQ(to.sequences(), Numbers{lost});
      ASSERT_EQ(to.out.damage.size(), 1U);
      const bool counts = lost < BoardSession::kFirstBuffers;
      EXPECT_EQ(to.out.damage[0].n_hits, counts ? 5 * lost : 0);
      EXPECT_EQ(to.out.damage[0].first_epoch, counts ? Epoch(100) : Epoch(0));
    }
  }
}

TEST(BoardStream, DamagedWordsAreCorruptWithTheirHits) {
  Receiver to;
  BoardMaker board(3);
  auto first = board.buffer(0, 1, 4);
  first[64] ^= std::byte{1};
  to.take(board.one(first, 0));
  to.take(board.one(board.buffer(5, 1, 5), 1));
  auto damaged = board.buffer(10, 1, 6);
  damaged[70] ^= std::byte{1};
  to.take(board.one(damaged, 2));
  to.take(board.one(board.buffer(20, 1, 7), 3));
  EXPECT_EQ(to.sequences(), (Numbers{1, 3}));
  EXPECT_EQ(to.dropped(DropCause::corrupt), 2U);
  ASSERT_EQ(to.out.damage.size(), 2U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(0));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(5));
  EXPECT_EQ(to.out.damage[0].n_hits, 4U);
  EXPECT_EQ(to.out.damage[1].first_epoch, Epoch(6));
  EXPECT_EQ(to.out.damage[1].n_epochs, Epoch(14));
  EXPECT_EQ(to.out.damage[1].n_hits, 6U);
  EXPECT_EQ(to.out.damage[1].cause, DropCause::corrupt);
}

TEST(BoardStream, ADamagedHeaderCostsTheHitsThatAreThenMissing) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  auto damaged = board.buffer(10, 1, 6);
  damaged[20] ^= std::byte{1};
  to.take(board.one(damaged, 1));
  to.take(board.one(board.buffer(20, 1, 7), 2));
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::corrupt), 6U);
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 0U);
}

TEST(BoardStream, HeadersThatContradictAreCorrupt) {
  const std::vector<std::uint32_t> words(10);
  const auto broken = [&](auto&& change) {
    Receiver to;
    BoardMaker board(3);
    to.take(board.one(board.buffer(100, 1, 5), 0));
    EpochBufferHeader header{.source = 3, .first_epoch = 110, .n_epochs = 1, .n_hits = 10, .hits_before = 5};
    header.sequence = 1;
    change(header);
    to.take(board.one(BoardMaker::stored(header, words), 1));
    EXPECT_EQ(to.sequences(), Numbers{0});
    EXPECT_EQ(to.out.complete, Epoch(101));
    to.stream.finish(to.out);
    return hits_of(to.out.damage, DropCause::corrupt) + 1000 * to.dropped(DropCause::corrupt);
  };
  EXPECT_EQ(broken([](auto& h) { h.source = 4; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.sequence = 2; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.first_epoch = 100; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.first_epoch = 90; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.first_epoch = max_epoch(10000) + 1; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.hits_before = 4; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.hits_before = ~0ULL - 20; }), 1010U);
  EXPECT_EQ(broken([](auto& h) { h.n_hits = 11; }), 1000U);
  EXPECT_EQ(broken([](auto& h) { h.n_payload_words = 1; }), 1010U);
}

TEST(BoardStream, AbsurdJumpsAreOutOfStepUntilManyAgree) {
  Receiver to;
  BoardMaker board(3);
  const Epoch far = 1'000 * kEpochsPerSecond;
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.take(board.one(board.buffer(far, 1, 6), 1));
  to.take(board.one(board.buffer(10, 1, 7), 2));
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::out_of_step), 6U);
  EXPECT_EQ(to.out.complete, Epoch(11));
  for (std::uint32_t i = 0; i < BoardPosition::kJumpBuffers; ++i)
    to.take(board.one(board.buffer(far + Epoch(i), 1, 1), 3 + i));
  EXPECT_EQ(to.sequences(), (Numbers{0, 2, 2 + BoardPosition::kJumpBuffers}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::out_of_step), 6U + BoardPosition::kJumpBuffers - 1);
}

/// The place before its jump is accepted at once, any other when many agree.
TEST(BoardStream, ABoardMayComeBackFromAJump) {
  Receiver to;
  BoardMaker board(3);
  const Epoch far = 1'000 * kEpochsPerSecond;
  std::uint64_t n = 0;
  const auto send = [&](Epoch first) { to.take(board.one(board.buffer(first, 1, 1), n++)); };
  send(far);
  for (Epoch epoch = 10; epoch < Epoch(10 + BoardPosition::kJumpBuffers); ++epoch) send(epoch);
  EXPECT_EQ(to.sequences(), (Numbers{0, BoardPosition::kJumpBuffers}));
  EXPECT_EQ(to.out.complete, Epoch(10 + BoardPosition::kJumpBuffers));
  send(far + 1);
  send(100);
  EXPECT_EQ(to.sequences(), (Numbers{0, BoardPosition::kJumpBuffers, BoardPosition::kJumpBuffers + 1, n - 1}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::out_of_step), BoardPosition::kJumpBuffers - 1);
  EXPECT_EQ(to.stream.counters()[Metric::hits] + hits_of(to.out.damage, DropCause::out_of_step), board.hits());
}

/// The board stays out of step: its data are reported as they arrive, not when it returns.
TEST(BoardStream, WhatIsOutOfStepIsReportedAsItComes) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  for (std::uint64_t n = 1; n < 20; ++n) {
    to.take(board.one(board.buffer(n * 1'000 * kEpochsPerSecond, 1, 2), n));
    EXPECT_EQ(hits_of(to.out.damage, DropCause::out_of_step), 2 * n);
  }
}

TEST(BoardStream, ABufferOfMoreThanAMinuteIsNoBeginning) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(5, 4'000'000'000, 5), 0));
  to.take(board.one(board.buffer(10, 1, 6), 1));
  EXPECT_EQ(to.sequences(), Numbers{1});
}

TEST(BoardStream, APauseOfTheBoardIsNoJump) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.now += 1'000'000 * kMillisecond;
  to.take(board.one(board.buffer(1'000 * kEpochsPerSecond, 1, 6), 1));
  EXPECT_EQ(to.sequences(), (Numbers{0, 1}));
}

TEST(BoardStream, AnAbsurdMarkMovesNothing) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.take(board.mark(DatagramKind::mark, 1, {1'000 * kEpochsPerSecond, 5}));
  to.take(board.mark(DatagramKind::mark, 1, {Epoch(~0ULL), 5}));
  EXPECT_EQ(to.out.complete, Epoch(1));
  to.take(board.mark(DatagramKind::mark, 1, {10, 4}));
  to.take(board.mark(DatagramKind::mark, 1, {10, ~0ULL}));
  EXPECT_EQ(to.out.complete, Epoch(10));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 0U);
  EXPECT_EQ(to.stream.anomalies(), 4U);
}

TEST(BoardStream, ARestartedSenderCountsFromZero) {
  Receiver to;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(0, 1, 5), 0));
  const auto parts = before.data(before.buffer(10, 1, 50), 1, 100);
  to.take(parts[0]);
  BoardMaker after(3, 2);
  after.buffer(5, 1, 3);
  to.take(after.one(after.buffer(12, 1, 4), 1));
  to.wait(BoardStream::kPatience_ns);
  EXPECT_EQ(headers_in(to.out.buffers).size(), 2U);
  EXPECT_EQ(to.stream.counters()[Metric::restarts], 1U);
  // The header gave the hits of the buffer in progress; of the new session, all are known.
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 53U);
  EXPECT_EQ(to.out.damage.back().first_epoch, Epoch(1));
  EXPECT_EQ(to.out.damage.back().n_epochs, Epoch(11));
  to.take(parts[1]);
  EXPECT_EQ(to.stream.counters()[Metric::former_session], 1U);
  to.wait(2 * BoardSession::kSilence_ns);
  to.take(after.mark(DatagramKind::mark, 20));
  to.take(parts[1]);
  EXPECT_EQ(to.stream.counters()[Metric::former_session], 2U);
  EXPECT_EQ(to.stream.counters()[Metric::restarts], 1U);
}

TEST(BoardStream, EpochsBetweenTwoSessionsMayLackHits) {
  Receiver to;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(0, 1, 5), 0));
  BoardMaker after(3, 2);
  to.take(after.mark(DatagramKind::mark, 0));
  EXPECT_TRUE(to.out.damage.empty());
  to.take(after.one(after.buffer(20, 1, 4), 0));
  ASSERT_EQ(to.out.damage.size(), 1U);
  EXPECT_EQ(to.out.damage[0].first_epoch, Epoch(1));
  EXPECT_EQ(to.out.damage[0].n_epochs, Epoch(19));
  EXPECT_EQ(to.out.damage[0].n_hits, 0U);
  to.take(after.one(after.buffer(30, 1, 4), 1));
  EXPECT_EQ(to.out.damage.size(), 1U);
}

TEST(BoardStream, HitsOfAnEarlierSessionAreNotMissingInTheNext) {
  Receiver to;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(0, 1, 100), 0));
  BoardMaker after(3, 2);
  to.take(after.one(after.buffer(10, 1, 4), 0));
  to.stream.finish(to.out);
  EXPECT_EQ(to.stream.counters()[Metric::hits], 104U);
  EXPECT_EQ(to.stream.counters()[Metric::lost_hits], 0U);
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 0U);
}

/// As many buffers must agree on a jump as if there had been no earlier session.
TEST(BoardStream, AJumpThatASessionHadBegunIsForgottenWithIt) {
  Receiver to;
  constexpr Epoch kFar = 200 * kEpochsPerSecond;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(0, 1, 5), 0));
  for (std::uint32_t i = 1; i < BoardPosition::kJumpBuffers; ++i)
    to.take(before.one(before.buffer(kFar + Epoch(i), 1, 5), i));
  BoardMaker after(3, 2);
  to.take(after.one(after.buffer(kFar + 20, 1, 5), 0));
  EXPECT_EQ(headers_in(to.out.buffers).size(), 1U);
  EXPECT_EQ(to.dropped(DropCause::out_of_step), std::uint64_t{BoardPosition::kJumpBuffers});
}

/// Time advances from a mark as it does from an epoch buffer.
TEST(BoardStream, AMarkIsThePlaceFromWhichAJumpIsMeasured) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.wait(100'000 * kMillisecond);
  to.take(board.mark(DatagramKind::mark, 100 * kEpochsPerSecond));
  EXPECT_EQ(to.out.complete, 100 * kEpochsPerSecond);
  to.take(board.one(board.buffer(250 * kEpochsPerSecond, 1, 5), 1));
  EXPECT_EQ(to.sequences(), Numbers{0}) << "150 s ahead of the mark";
  EXPECT_EQ(to.dropped(DropCause::out_of_step), 1U);
}

TEST(BoardStream, ALostBufferOfAnotherSourceProvesNothing) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  BoardMaker other(4);
  to.take(board.data(other.buffer(10, 1, 50), 1, 100)[0]);
  to.wait(BoardStream::kPatience_ns);
  to.stream.finish(to.out);
  EXPECT_EQ(to.stream.counters()[Metric::lost_hits], 0U);
}

TEST(BoardStream, NothingIsKeptAfterTheEnd) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.take(board.one(board.buffer(9, 1, 5), 7));
  to.take(board.mark(DatagramKind::end, 1, {5, 5}));
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.stream.held_bytes(), 0U);
  to.take(board.one(board.buffer(10, 1, 5), 8));
  EXPECT_EQ(to.sequences(), Numbers{0});
  EXPECT_EQ(to.stream.counters()[Metric::after_end], 1U);
}

TEST(BoardStream, AnEndThatWaitsIsTakenBeforeTheNextSession) {
  Receiver to;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(0, 1, 5), 0));
  before.buffer(1, 1, 6);
  to.take(before.mark(DatagramKind::end, 5));
  EXPECT_FALSE(to.out.ended);
  BoardMaker after(3, 2);
  to.take(after.one(after.buffer(20, 1, 4), 0));
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.sequences(), Numbers{0});
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 6U);
  EXPECT_EQ(to.stream.held_bytes(), 0U);
}

TEST(BoardStream, WhatARestartedSenderRepeatsIsLate) {
  Receiver to;
  BoardMaker before(3, 1);
  to.take(before.one(before.buffer(100, 1, 5), 0));
  BoardMaker after(3, 2);
  to.take(after.one(after.buffer(0, 1, 3), 0));
  to.take(after.one(after.buffer(100, 5, 4), 1));
  to.take(after.one(after.buffer(105, 1, 6), 2));
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(to.dropped(DropCause::late), 2U);
  EXPECT_EQ(hits_of(to.out.damage, DropCause::late), 7U);
  for (const auto& damage : to.out.damage) EXPECT_GE(damage.first_epoch, Epoch(101));
}

TEST(BoardStream, OneStrayDatagramOfAnotherSessionSilencesNoBoard) {
  Receiver to;
  BoardMaker board(3, 1);
  const BoardMaker stray(3, 2);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.take(stray.mark(DatagramKind::mark, 0, {0, 0}));
  to.take(board.one(board.buffer(1, 1, 5), 1));
  EXPECT_EQ(to.sequences(), Numbers{0});
  to.wait(BoardSession::kSilence_ns);
  to.take(board.one(board.buffer(2, 1, 5), 2));
  to.wait(BoardStream::kPatience_ns);
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
}

TEST(BoardStream, AStreamOfAnotherTimeBaseIsRefused) {
  Receiver to;
  BoardMaker board(3);
  StreamHeader other;
  other.base.tick_ps = 10;
  to.take(board.header(other));
  EXPECT_FALSE(to.header.known());
  to.take(board.one(board.buffer(0, 1, 5), 0));
  to.take(board.one(board.buffer(1'000'000, 1, 6), 1));
  EXPECT_TRUE(to.out.buffers.empty());
  to.take(board.mark(DatagramKind::end, 2'000'000));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::corrupt), 11U);
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.stream.anomalies(), 1U);
}

TEST(BoardStream, APayloadThatTheRunDidNotBeginWithIsRefused) {
  Receiver to;
  BoardMaker board(3);
  EXPECT_EQ(to.header.fix().payload, PayloadTable{});
  StreamHeader other;
  other.payload = PayloadTable::uniform(1);
  to.take(board.header(other));
  EXPECT_EQ(to.header.header().payload, PayloadTable{});
  to.take(board.one(board.buffer(0, 1, 5), 0));
  EXPECT_EQ(to.dropped(DropCause::corrupt), 1U);
  other.payload = {};
  to.take(board.header(other));
  to.take(board.one(board.buffer(1, 1, 5), 1));
  EXPECT_EQ(to.sequences(), Numbers{1});
}

TEST(BoardStream, StopGivesUpWhatIsMissing) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  board.buffer(1, 1, 6);
  to.take(board.one(board.buffer(2, 1, 7), 2));
  const auto parts = board.data(board.buffer(3, 1, 80), 3, 100);
  to.take(parts[0]);
  to.stream.finish(to.out);
  EXPECT_EQ(to.sequences(), (Numbers{0, 2}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), 86U);
  EXPECT_TRUE(to.out.ended);
  EXPECT_EQ(to.stream.held_bytes(), 0U);
}

TEST(BoardStream, WhatIsLostInOneStretchMayBeMoreThanOneRecordHolds) {
  Receiver to;
  BoardMaker board(3);
  to.take(board.one(board.buffer(0, 1, 5), 0));
  const std::uint64_t lost = (std::uint64_t{1} << 32) + 10;
  to.take(board.mark(DatagramKind::mark, 1, {10, 5 + lost}));
  EXPECT_EQ(hits_of(to.out.damage, DropCause::lost), lost);
  EXPECT_EQ(to.out.damage.size(), 2U);
}

}  // namespace eventloom::test
