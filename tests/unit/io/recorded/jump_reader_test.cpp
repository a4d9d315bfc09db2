#include "io/recorded/jump_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "list_reader.hpp"

namespace eventloom {
namespace {

constexpr Tick kDisorder = 10'000'000;  // 10 ms of 1 ns
constexpr Tick kSecond = 1'000'000'000;

struct Passed {
  std::vector<Tick> times;
  std::vector<std::uint32_t> hits;  ///< positions in the list
  std::uint64_t jump_losses = 0;
  std::uint64_t other_losses = 0;
  Counters counters;
};

Passed pass(const std::vector<Tick>& times, JumpPolicy policy, std::size_t at_once) {
  TimeOrder order;
  order.disorder = kDisorder;
  order.policy = policy;
  order.has_bits = true;
  order.tick_ps = 1000;
  order.frames_in_any_order = policy == JumpPolicy::refuse;
  JumpReader reader(std::make_unique<ListReader>(times, at_once), order);
  Passed out;
  HitBlock block;
  while (reader.read(block)) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      out.times.push_back(block.time[i]);
      out.hits.push_back(block.channel[i]);
      EXPECT_EQ(block.payload_of(i).front(), block.channel[i]);
    }
    for (const auto& loss : block.losses) {
      EXPECT_LE(loss.before, block.size());
      (loss.cause == DropCause::jump ? out.jump_losses : out.other_losses) += loss.hits;
    }
  }
  out.counters = reader.counts().counters;
  return out;
}

std::string refusal(const std::vector<Tick>& times, std::size_t at_once) {
  try {
    pass(times, JumpPolicy::refuse, at_once);
    return {};
  } catch (const UserError& e) {
    return e.what();
  }
}

std::vector<Tick> every(Tick first, Tick step, std::size_t n) {
  std::vector<Tick> times(n);
  for (std::size_t i = 0; i < n; ++i) times[i] = first + i * step;
  return times;
}

std::vector<Tick> operator+(std::vector<Tick> a, const std::vector<Tick>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr std::size_t kPortions[] = {1, 2, 7, 100, 100'000};

TEST(JumpReader, LeavesOrdinaryDisorderAlone) {
  std::mt19937 random(1);
  std::vector<Tick> times;
  for (Tick t = 0; t < 3000; ++t) times.push_back(kDisorder + t * 100'000 + Tick(random()) % kDisorder);
  Tick largest = 0;
  for (Tick greatest = 0; const auto time : times) {
    greatest = std::max(greatest, time);
    largest = std::max(largest, greatest - time);
  }
  for (const auto policy : {JumpPolicy::refuse, JumpPolicy::new_era, JumpPolicy::drop}) {
    for (const auto at_once : kPortions) {
      const auto out = pass(times, policy, at_once);
      EXPECT_EQ(out.times, times);
      EXPECT_EQ(out.other_losses, 600U);
      EXPECT_EQ(out.counters[Metric::jumps], 0U);
      EXPECT_EQ(Tick(out.counters[Metric::step_back_ns]), largest);
    }
  }
}

TEST(JumpReader, ABoundOfDisorderIsNoJumpAndOneTickMoreIs) {
  EXPECT_EQ(refusal({0, kDisorder + 5, kDisorder + 6, 6, 7}, 2), "");
  EXPECT_NE(refusal({0, kDisorder + 5, kDisorder + 6, 5, 7}, 2), "");
}

TEST(JumpReader, TheFormatMayHaveNoOrderWithinAPulse) {
  const std::vector<Tick> times = {70'000'000, 5, 30'000'000, 75'000'000, 71'000'000, 5'000'000, 140'000'000};
  const auto passes = [&](Tick unordered, bool stated) {
    TimeOrder order;
    order.disorder = kDisorder;
    order.is_strict = stated;
    order.tick_ps = 1000;
    JumpReader reader(std::make_unique<ListReader>(times, 3, unordered), order);
    std::vector<Tick> passed;
    try {
      for (HitBlock block; reader.read(block);) passed.insert(passed.end(), block.time.begin(), block.time.end());
    } catch (const UserError&) {
      return false;
    }
    return passed == times;
  };
  EXPECT_TRUE(passes(70'000'000, false));
  EXPECT_FALSE(passes(69'999'990, false)) << "one step is longer";
  EXPECT_FALSE(passes(70'000'000, true)) << "reorder= says otherwise";
}

/// Frames of 100 ms with 200 hits each, slightly out of order.
std::vector<Tick> frames(const std::vector<Tick>& numbers, std::size_t hits = 200) {
  std::mt19937 random(3);
  std::vector<Tick> times;
  for (const auto number : numbers) {
    auto frame = every(number * 100'000'000 + 40, Tick(99'000'000 / hits), hits);
    for (auto& time : frame) time += Tick(random() % 40);
    times = std::move(times) + frame;
  }
  return times;
}

TEST(JumpReader, FramesMayComeInAnyOrder) {
  const auto times = frames({366, 368, 369, 370, 371, 364, 372, 373, 365, 367});
  for (const auto at_once : kPortions) {
    const auto out = pass(times, JumpPolicy::refuse, at_once);
    EXPECT_EQ(out.times, times);
    EXPECT_GT(out.counters[Metric::step_back_ns], 700'000'000U);
  }
}

TEST(JumpReader, FramesThatDoNotFitAreJumps) {
  for (const auto at_once : kPortions) {
    EXPECT_NE(refusal(frames({5, 6, 7, 5}), at_once), "") << "one is repeated";
    EXPECT_NE(refusal(frames({5, 6, 7}) + every(650'000'000, 1000, 9), at_once), "") << "inside another";
    EXPECT_NE(refusal(frames({5, 7, 6}) + every(699'000'000, 1'000'000, 9), at_once), "") << "extends into the next";
    EXPECT_NE(refusal(frames({9, 25, 8}), at_once), "") << "more than a second back";
    EXPECT_NE(refusal(frames({5, 7, 8, 6}, 5), at_once), "") << "so rare hits reveal no frames";
    EXPECT_NE(refusal(frames({5, 6, 7}) + std::vector<Tick>(300, 0), at_once), "") << "a tail that was never written";
  }
}

TEST(JumpReader, NamesTheHitsAndTheStep) {
  const auto times = every(kSecond, 1000, 5000) + every(500, 1000, 5000);
  for (const auto at_once : kPortions) {
    const auto text = refusal(times, at_once);
    EXPECT_NE(text.find("'list': hit 5001 at 500ns lies 1.0049985s before hit 5000 at 1.004999s"), std::string::npos)
        << text;
    for (const char* word : {"jumps=new-era", "jumps=drop", "bits=N"}) {
      EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    EXPECT_EQ(text.find("add reorder"), std::string::npos) << text;
  }
}

TEST(JumpReader, SuspectsACounterOfThatWidth) {
  const auto wrapped = every((Tick(std::uint64_t{1} << 32)) - 50'000, 1000, 50) + every(0, 1000, 50);
  EXPECT_NE(refusal(wrapped, 7).find("nearly 2^32 ns: a counter of 32 bits?"), std::string::npos);
}

TEST(JumpReader, NewErasKeepTheirDistancesAndNeverOverlap) {
  const std::vector<std::vector<Tick>> eras = {every(5 * kSecond, 20'000'000, 300), every(0, 300'000, 500),
                                               every(0, 20'000'000, 300)};
  for (const auto at_once : kPortions) {
    const auto out = pass(eras[0] + eras[1] + eras[2], JumpPolicy::new_era, at_once);
    ASSERT_EQ(out.times.size(), 1100U);
    EXPECT_EQ(out.counters[Metric::jumps], 2U);
    EXPECT_EQ(out.jump_losses, 0U);
    std::size_t at = 0;
    for (const auto& era : eras) {
      if (at != 0) {
        EXPECT_EQ(out.times[at] - out.times[at - 1], kDisorder);
      }
      for (std::size_t i = 0; i < era.size(); ++i) ASSERT_EQ(out.times[at + i] - out.times[at], era[i] - era[0]);
      at += era.size();
    }
  }
}

TEST(JumpReader, DisorderAfterAJumpStaysAfterIt) {
  const auto out =
      pass(every(kSecond, 1000, 50) + std::vector<Tick>{kDisorder, 0, kDisorder + 9}, JumpPolicy::new_era, 3);
  EXPECT_GE(out.times[51], out.times[49]);
}

TEST(JumpReader, DropsUntilTimesHaveCaughtUp) {
  const auto times =
      every(kSecond, 1'000'000, 100) + std::vector<Tick>(7, 0) + every(kSecond + 80'000'000, 1'000'000, 50);
  std::vector<Tick> expected = every(kSecond, 1'000'000, 100);
  const Tick back = expected.back() - kDisorder;
  std::uint64_t dropped = 7;
  for (const auto time : every(kSecond + 80'000'000, 1'000'000, 50)) {
    if (time >= back) {
      expected.push_back(time);
    } else {
      ++dropped;
    }
  }
  for (const auto at_once : kPortions) {
    const auto out = pass(times, JumpPolicy::drop, at_once);
    EXPECT_EQ(out.times, expected);
    EXPECT_EQ(out.jump_losses, dropped);
    EXPECT_EQ(out.other_losses, 31U);
    EXPECT_EQ(out.counters[Metric::jumps], 1U);
  }
}

TEST(JumpReader, ASingleTimeFarAheadIsDamageItself) {
  const auto times =
      every(kSecond, 1000, 20) + std::vector<Tick>{Tick(std::uint64_t{1} << 60)} + every(kSecond + 20'000, 1000, 20);
  auto expected = every(kSecond, 1000, 40);
  for (const auto policy : {JumpPolicy::new_era, JumpPolicy::drop}) {
    for (const auto at_once : kPortions) {
      const auto out = pass(times, policy, at_once);
      EXPECT_EQ(out.times, expected);
      EXPECT_EQ(out.jump_losses, 1U);
      EXPECT_EQ(out.other_losses, 8U);
      EXPECT_EQ(out.counters[Metric::jumps], 1U);
    }
  }
  EXPECT_NE(refusal(times, 7).find("hit 21 at"), std::string::npos);
}

TEST(JumpReader, ALastHitFarAheadIsKept) {
  const auto times = every(0, 1000, 20) + std::vector<Tick>{kSecond};
  for (const auto at_once : kPortions) EXPECT_EQ(pass(times, JumpPolicy::drop, at_once).times, times);
}

TEST(JumpReader, RefusesAnEraBeyondTheLastTick) {
  const std::vector<Tick> times = {1, std::numeric_limits<Tick>::max() - kDisorder,
                                   std::numeric_limits<Tick>::max() - 5, 7, 8};
  EXPECT_THROW(pass(times, JumpPolicy::new_era, 2), UserError);
  const std::vector<Tick> later = {1, Tick(std::uint64_t{1} << 63), (Tick(std::uint64_t{1} << 63)) + 1, 7,
                                   8, Tick(std::uint64_t{1} << 63)};
  EXPECT_THROW(pass(later, JumpPolicy::new_era, 2), UserError);
}

}  // namespace
}  // namespace eventloom
