#include "io/trb/trb_sequence.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <set>

namespace eventloom {
namespace {

using Numbers = std::vector<Tick>;
constexpr Tick kWrap24 = Tick(std::uint64_t{1} << 24);
constexpr Tick kWrap16 = Tick(std::uint64_t{1} << 16);
constexpr std::int64_t kMs = 1'000'000;

Numbers from_to(Tick first, Tick last) {
  Numbers numbers;
  for (Tick number = first; number <= last; ++number) numbers.push_back(number);
  return numbers;
}

/// A board whose events hold their true number, and what became of each event.
class Board : private TrbSink {
 public:
  explicit Board(unsigned bits = 24, bool gaps = false) : sequence(bits, gaps, *this) {}

  /// `sent_as`: the number that the board sends.
  void send(Tick number, std::optional<Tick> sent_as = {}, bool after_silence = false) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
    sequence.take(static_cast<std::uint32_t>(sent_as.value_or(number)), {bytes, sizeof number}, now, after_silence);
  }
  void send_all(const Numbers& numbers) {
    for (const auto number : numbers) send(number);
  }
  [[nodiscard]] std::uint64_t count(Metric metric) const { return sequence.counters()[metric]; }

  TrbSequence sequence;
  std::int64_t now = 0;
  Numbers kept;
  Numbers dropped;
  Tick missing = 0;
  int restarts = 0;

 private:
  static Tick number_in(std::span<const std::byte> bytes) {
    Tick number = 0;
    EXPECT_EQ(bytes.size(), sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  void keep(Tick number, std::span<const std::byte> bytes) override {
    EXPECT_TRUE(kept.empty() || number > kept.back());
    EXPECT_EQ(number % kWrap16, number_in(bytes) % kWrap16) << "no event gets another's number";
    kept.push_back(number);
  }
  void miss(Tick from, Tick to) override {
    EXPECT_LT(from, to);
    EXPECT_TRUE(kept.empty() || from == kept.back() + 1);
    missing += to - from;
  }
  void restart() override { ++restarts; }
  void leave_out(std::span<const std::byte> bytes) override { dropped.push_back(number_in(bytes)); }
};

TEST(TrbSequence, NumbersInOrder) {
  Board board;
  board.send_all(from_to(5, 300));
  EXPECT_EQ(board.kept, from_to(5, 300));
  EXPECT_EQ(board.missing, Tick(0));
  EXPECT_FALSE(board.sequence.waiting());
}

TEST(TrbSequence, OneEventIsKeptAtTheEnd) {
  Board board;
  board.send(42);
  EXPECT_TRUE(board.kept.empty()) << "nothing confirms it yet";
  board.sequence.finish();
  EXPECT_EQ(board.kept, Numbers{42});
}

TEST(TrbSequence, WrapsAround) {
  for (const unsigned bits : {24U, 16U}) {
    const Tick range = Tick(std::uint64_t{1} << bits);
    Board board(bits);
    const auto first = bits == 24 ? range - 20 : 3;
    const auto last = bits == 24 ? range + 20 : 3 * range;
    for (Tick number = first; number <= last; ++number) board.send(number, number % range);
    EXPECT_EQ(board.kept, from_to(first, last));
    EXPECT_EQ(board.missing, Tick(0));
  }
}

TEST(TrbSequence, BitsBeyondTheWidthAreNotOfTheNumber) {
  Board board(16);
  for (Tick number = 10; number < 50; ++number) board.send(number, Tick(number.value | 0x5a0000));
  EXPECT_EQ(board.kept, from_to(10, 49));
}

TEST(TrbSequence, EarlyEventsWaitForTheOnesBefore) {
  Board board;
  board.send_all({1, 2, 4, 6, 5});
  EXPECT_EQ(board.kept, from_to(1, 2));
  EXPECT_TRUE(board.sequence.waiting());
  board.send(3);
  EXPECT_EQ(board.kept, from_to(1, 6));
  EXPECT_EQ(board.count(Metric::reordered), 2U);
  EXPECT_EQ(board.missing, Tick(0));
}

TEST(TrbSequence, MissingOnesAreGivenUpAfterAWhile) {
  Board board;
  board.send_all({1, 2, 4});
  board.now += TrbSequence::kPatience_ns - 1;
  board.sequence.pass_time(board.now);
  EXPECT_EQ(board.missing, Tick(0));
  board.sequence.pass_time(++board.now);
  EXPECT_EQ(board.missing, Tick(1));
  EXPECT_EQ(board.kept, (Numbers{1, 2, 4}));
  board.send(3);
  board.send(4);
  EXPECT_EQ(board.count(Metric::late_events), 1U);
  EXPECT_EQ(board.count(Metric::duplicates), 1U);
}

TEST(TrbSequence, MissingOnesAreGivenUpWhenManyWait) {
  Board board;
  board.send_all({1, 2});
  board.send_all(from_to(4, 3 + TrbSequence::kMostHeld));
  EXPECT_EQ(board.kept.back(), 3 + TrbSequence::kMostHeld);
  EXPECT_EQ(board.missing, Tick(1));
}

TEST(TrbSequence, RepeatedEventsAreDropped) {
  Board board;
  board.send_all({1, 1, 2, 2, 1, 3, 5, 5, 4, 5});
  EXPECT_EQ(board.kept, from_to(1, 5));
  EXPECT_EQ(board.count(Metric::duplicates), 5U);
}

TEST(TrbSequence, AWrongNumberAloneIsNotBelieved) {
  for (const Tick wrong : {Tick{5000}, Tick{8'000'000}, Tick{16'000'000}}) {
    Board board;
    board.send_all(from_to(2000, 2100));
    board.send(wrong);
    board.send_all(from_to(2101, 2200));
    EXPECT_EQ(board.kept, from_to(2000, 2200));
    EXPECT_EQ(board.dropped, Numbers{wrong});
    EXPECT_EQ(board.count(Metric::out_of_step), 1U);
    EXPECT_EQ(board.missing, Tick(0));
  }
}

TEST(TrbSequence, AWrongFirstNumberIsNotBelieved) {
  Board board;
  board.send(7'000'000);
  board.send_all(from_to(2000, 2100));
  EXPECT_EQ(board.kept, from_to(2000, 2100));
  EXPECT_EQ(board.dropped, Numbers{7'000'000});
}

TEST(TrbSequence, ALongLossIsCounted) {
  Board board;
  board.send_all(from_to(1, 100));
  board.send_all(from_to(1'000'001, 1'000'100));
  EXPECT_EQ(board.missing, Tick(999'900));
  EXPECT_EQ(board.kept.size(), 200U);
  EXPECT_EQ(board.kept.back(), Tick(1'000'100));
  EXPECT_EQ(board.restarts, 0);
}

TEST(TrbSequence, ARestartedBoardContinuesAfterTheNextWrap) {
  Board board;
  board.send_all(from_to(50'000, 50'100));
  board.send_all(from_to(0, 100));
  EXPECT_EQ(board.restarts, 1);
  EXPECT_EQ(board.count(Metric::restarts), 1U);
  ASSERT_EQ(board.kept.size(), 202U);
  EXPECT_EQ(board.kept[101], kWrap24);
  EXPECT_EQ(board.missing, Tick(0));
  EXPECT_TRUE(board.dropped.empty());
}

/// Events that wait for an earlier one do not wait beyond a restart of the numbers: the earlier one is missing, and
/// they are kept.
TEST(TrbSequence, EventsThatWaitAtANewBeginningAreKept) {
  Board board;
  board.send_all(from_to(50'000, 50'100));
  board.send_all({50'102, 50'103});
  EXPECT_EQ(board.kept.back(), Tick(50'100));
  board.send_all(from_to(0, 100));
  EXPECT_EQ(board.restarts, 1);
  EXPECT_EQ(board.missing, Tick(1));
  ASSERT_EQ(board.kept.size(), 101U + 2U + 101U);
  EXPECT_EQ(board.kept[101], Tick(50'102));
  EXPECT_EQ(board.kept[102], Tick(50'103));
  EXPECT_EQ(board.kept[103], kWrap24);
  EXPECT_FALSE(board.sequence.waiting());
}

/// Two agreeing events prove a loss of less than a quarter of the range; a larger one needs as many as a step back.
TEST(TrbSequence, HowManyAreBelievedDependsOnHowFarTheyAreAhead) {
  for (const auto& [ahead, needed] :
       {std::pair(kWrap24 / 4 - 10, TrbSequence::kAheadEvents), std::pair(kWrap24 * 3 / 8, TrbSequence::kBackEvents)}) {
    Board board;
    board.send_all(from_to(1, 100));
    const auto far = 100 + ahead;
    board.send_all(from_to(far, far + Tick(needed) - 2));
    EXPECT_EQ(board.kept.back(), Tick(100));
    board.send(far + Tick(needed) - 1);
    EXPECT_EQ(board.kept.back(), far + Tick(needed) - 1);
    EXPECT_EQ(board.missing, ahead - 1);
  }
}

TEST(TrbSequence, OldEventsThatComeAgainAreNoNewBeginning) {
  Board board;
  board.send_all(from_to(1, 5000));
  board.send_all(from_to(100, 120));
  board.send_all(from_to(5001, 5100));
  EXPECT_EQ(board.kept, from_to(1, 5100));
  EXPECT_EQ(board.dropped, from_to(100, 120));
}

TEST(TrbSequence, TheFlawOfTheFirmwareIsRepaired) {
  Board board;
  for (Tick number = 0x2bffe0; number < 0x2c0040; ++number) board.send(number, number == 0x2c0000 ? 0x2b0000 : number);
  EXPECT_EQ(board.kept, from_to(0x2bffe0, 0x2c003f));
  EXPECT_EQ(board.count(Metric::repaired_numbers), 1U);
}

TEST(TrbSequence, TheFlawIsRepairedBesideLossesAndReordering) {
  Board board;
  board.send_all({0x2bfffd, 0x2bfffe});
  board.send(0x2c0001);
  board.send(0x2c0000, 0x2b0000);
  board.send(0x2c0000, 0x2b0000);
  board.sequence.finish();
  EXPECT_EQ(board.kept, (Numbers{0x2bfffd, 0x2bfffe, 0x2c0000, 0x2c0001}));
  EXPECT_EQ(board.count(Metric::repaired_numbers), 1U);
  EXPECT_EQ(board.count(Metric::duplicates), 1U);
  EXPECT_EQ(board.missing, Tick(1));
}

TEST(TrbSequence, SixteenBitsHaveNoFlaw) {
  Board board(16);
  for (Tick number = 0xfff0; number < 0x10010; ++number) board.send(number, number % kWrap16);
  EXPECT_EQ(board.kept, from_to(0xfff0, 0x1000f));
  EXPECT_EQ(board.count(Metric::repaired_numbers), 0U);
}

/// After a silence, only the other boards know how often its numbers have wrapped.
TEST(TrbSequence, AfterASilenceItIsWhereTheOthersAre) {
  for (const Tick away : {Tick{10}, kWrap16 - 5, kWrap16 + 5, 7 * kWrap16 + 30'000}) {
    Board board(16);
    board.send_all(from_to(100, 199));
    const Tick back = 200 + away;
    board.sequence.others_at(back + 3000);
    for (Tick number = back; number < back + 100; ++number) board.send(number, number % kWrap16, number == back);
    board.sequence.finish();
    EXPECT_EQ(board.kept.back(), back + 99);
    EXPECT_EQ(board.missing, away);
    EXPECT_TRUE(board.dropped.empty());
  }
}

TEST(TrbSequence, TheFirstNumberIsNearestToTheOthers) {
  Board board(16);
  board.sequence.others_at(5 * kWrap16 + 10);
  for (Tick number = 5 * kWrap16 - 3; number < 5 * kWrap16 + 50; ++number) board.send(number, number % kWrap16);
  EXPECT_EQ(board.kept, from_to(5 * kWrap16 - 3, 5 * kWrap16 + 49));
}

TEST(TrbSequence, ABoardWithGapsHasAnyNumberUpToTheOthers) {
  Board board(24, true);
  board.sequence.others_at(4000);
  board.send(3000);
  board.sequence.pass_time(board.now);
  ASSERT_EQ(board.kept, Numbers{3000}) << "the first, near the others";
  for (const Tick number : {Tick{9000}, Tick{15'000}, Tick{40'000}}) {
    board.sequence.others_at(number - 500);
    board.send(number);
    EXPECT_EQ(board.kept.back(), number);
  }
  EXPECT_TRUE(board.dropped.empty());
}

TEST(TrbSequence, ABoardWithGapsWaitsForTheOthersToConfirmIt) {
  Board board(24, true);
  board.sequence.others_at(100);
  board.send_all({101, 102, 50'000});
  board.sequence.pass_time(board.now);
  EXPECT_EQ(board.kept, from_to(101, 102));
  board.sequence.others_at(50'100);
  board.sequence.pass_time(board.now);
  EXPECT_EQ(board.kept, (Numbers{101, 102, 50'000}));
  board.send(900'000);
  board.send(50'001);
  EXPECT_EQ(board.kept.back(), Tick(50'001));
  EXPECT_EQ(board.dropped, Numbers{900'000}) << "far beyond the others";
  board.send(900'000);
  EXPECT_TRUE(board.sequence.waiting());
  EXPECT_FALSE(board.sequence.holds()) << "it cannot be placed";
}

TEST(TrbSequence, ABoardWithoutGapsIsNotConfirmedByOthers) {
  Board board;
  board.send_all({101, 102});
  board.sequence.others_at(5000);
  board.send(4900);
  board.sequence.pass_time(board.now);
  EXPECT_EQ(board.kept, from_to(101, 102));
}

/// Whatever a network does within the tolerance, each event is either kept once or missing once.
TEST(TrbSequence, AnyNetwork) {
  std::mt19937 random(7);
  const auto chance = [&random](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
  for (int round = 0; round < 200; ++round) {
    const unsigned bits = round % 2 == 0 ? 24 : 16;
    const Tick first = (Tick(std::uint64_t{1} << bits)) - 100 - Tick(random() % 400);
    Board board(bits);
    Numbers sent;
    std::set<Tick> arrived;
    for (Tick number = first; number < first + 600; ++number) {
      const bool spared = number < first + 2;
      if (spared || !chance(0.05)) sent.push_back(number);
      if (!spared && chance(0.05)) sent.push_back(number);
    }
    for (std::size_t i = 3; i + 1 < sent.size(); ++i) {
      if (chance(0.2)) std::swap(sent[i], sent[i - std::min<std::size_t>(i - 2, random() % 8)]);
    }
    for (const auto number : sent) {
      arrived.insert(number);
      board.now += chance(0.01) ? 20 * kMs : 0;
      board.send(number, number % (Tick(std::uint64_t{1} << bits)));
    }
    board.sequence.finish();
    EXPECT_EQ(board.kept, Numbers(arrived.begin(), arrived.end())) << round;
    EXPECT_EQ(board.missing, *arrived.rbegin() + 1 - first - Tick(arrived.size()));
    EXPECT_EQ(board.count(Metric::duplicates), sent.size() - arrived.size());
  }
}

}  // namespace
}  // namespace eventloom
