#include "io/recorded/event_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace eventloom {
namespace {

constexpr auto kDuplicate = DropCause::duplicate;
constexpr auto kRepeated = DropCause::repeated_incomplete;
constexpr auto kOutOfStep = DropCause::out_of_step;
constexpr std::uint32_t kLast32 = 0xffffffffU;

struct Arrival {
  std::uint32_t number = 0;
  bool completes = false;  ///< an event of the same number directly before it is an unfinished copy
};

/// The final state of one event.
struct Fate {
  std::optional<DropCause> dropped;
  Tick tick = 0;  ///< tick at which it is kept
  friend bool operator==(const Fate&, const Fate&) = default;
};

void PrintTo(const Fate& fate, std::ostream* out) {
  if (fate.dropped) {
    *out << kDropCauseNames[static_cast<std::size_t>(*fate.dropped)];
  } else {
    *out << fate.tick.value;
  }
}

struct Judged {
  std::vector<Fate> fates;
  CountsByName counts;
};

/// Uses EventNumbers like a reader: holds back the last event until the next one is judged.
Judged judged(const std::vector<Arrival>& arrivals, unsigned bits = 32) {
  EventNumbers numbers(bits);
  Judged out;
  std::optional<std::size_t> kept;
  for (const Arrival& arrival : arrivals) {
    const bool completes = kept && numbers.repeats(arrival.number) && arrival.completes;
    const auto judgement = numbers.judge(arrival.number, completes);
    if (judgement.previous) {
      if (kept) out.fates[*kept] = {judgement.previous, 0};
      EXPECT_TRUE(kept) << "nothing is kept that could be taken back";
      kept.reset();
    }
    out.fates.push_back({judgement.current, judgement.current ? 0 : judgement.tick});
    if (!judgement.current) kept = out.fates.size() - 1;
  }
  if (const auto cause = numbers.finish()) {
    EXPECT_TRUE(kept) << "nothing is kept that could be taken back";
    if (kept) out.fates[*kept] = {cause, 0};
  }
  out.counts = numbers.counters().by_name();
  return out;
}

std::vector<Arrival> arrivals_of(const std::vector<std::uint32_t>& numbers) {
  std::vector<Arrival> out;
  for (const auto number : numbers) out.push_back({number, false});
  return out;
}

std::vector<Fate> fates_of(const std::vector<std::uint32_t>& numbers) { return judged(arrivals_of(numbers)).fates; }

Fate kept_at(Tick tick) { return {std::nullopt, tick}; }
Fate dropped_for(DropCause cause) { return {cause, 0}; }

using Fates = std::vector<Fate>;

/// Judges with the whole stream available: looks ahead where EventNumbers takes back, and remembers all numbers. Equal
/// numbers in a row form one group, of which at most one event is kept.
class Model {
 public:
  explicit Model(const std::vector<Arrival>& arrivals) : arrivals_(arrivals), fates_(arrivals.size()) {}

  /// Returns std::nullopt where the comment of EventNumbers does not define how far "lately" and the like extend.
  std::optional<Judged> judge() {
    for (std::size_t begin = 0; begin < arrivals_.size();) {
      std::size_t end = begin + 1;
      while (end < arrivals_.size() && arrivals_[end].number == arrivals_[begin].number) ++end;
      group(begin, end);
      begin = end;
    }
    if (unspecified_) return std::nullopt;
    return Judged{fates_, counts()};
  }

 private:
  static std::int64_t step(std::uint32_t from, std::uint32_t to) {
    const std::int64_t ahead = to - from;  // modulo 2^32
    return ahead < std::int64_t{1} << 31 ? ahead : ahead - (std::int64_t{1} << 32);
  }

  void group(std::size_t begin, std::size_t end) {
    const std::uint32_t number = arrivals_[begin].number;
    if (used_.empty()) return ahead(begin, end, Tick(number));
    const std::int64_t by = step(static_cast<std::uint32_t>(used_.back()), number);
    if (by > 0) return ahead(begin, end, used_.back() + static_cast<Tick>(by));
    if (by < 0) return back(begin, end, static_cast<std::uint64_t>(-by));
    for (std::size_t i = begin; i < end; ++i) same_as_kept(i);
  }

  /// The number of the last event kept, which is `kept_`.
  void same_as_kept(std::size_t i) {
    if (arrivals_[i].completes && !took_back_) {
      fates_[i] = {std::nullopt, fates_[kept_].tick};
      fates_[kept_] = {kRepeated, 0};
      kept_ = i;
    } else {
      fates_[i] = {kDuplicate, 0};
    }
  }

  void back(std::size_t begin, std::size_t end, std::uint64_t by) {
    const bool was_used = Tick(by) <= used_.back() && std::ranges::find(used_, used_.back() - Tick(by)) != used_.end();
    if (was_used && by > 1000 && by < 100'000) unspecified_ = true;
    for (std::size_t i = begin; i < end; ++i) fates_[i] = {was_used && by <= 1000 ? kDuplicate : kOutOfStep, 0};
  }

  void ahead(std::size_t begin, std::size_t end, Tick tick) {
    std::size_t survivor = begin;
    fates_[begin] = {std::nullopt, tick};
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (arrivals_[i].completes) {
        fates_[survivor] = {kRepeated, 0};
        survivor = i;
        fates_[i] = {std::nullopt, tick};
      } else {
        fates_[i] = {kDuplicate, 0};
      }
    }
    if (believed(begin, end, tick)) {
      kept_ = survivor;
      took_back_ = false;
      if (!used_.empty()) missing_ += (tick - used_.back()).value - 1;
      used_.push_back(tick);
    } else {
      fates_[survivor] = {kOutOfStep, 0};
      took_back_ = true;
    }
  }

  bool believed(std::size_t begin, std::size_t end, Tick tick) {
    const bool first = used_.empty();
    const std::uint64_t jump = first ? 0 : (tick - used_.back()).value;
    if (jump == 1) return true;
    if (end == arrivals_.size()) {
      if (jump > 900 && jump < 1100) unspecified_ = true;
      return jump <= 1000;
    }
    const std::int64_t by = step(arrivals_[begin].number, arrivals_[end].number);
    if (first && by > 1 << 20 && by < 1 << 28) unspecified_ = true;
    return by > 0 && (!first || by < 1 << 24);
  }

  [[nodiscard]] CountsByName counts() const {
    CountsByName counts{
        {"missing_numbers", missing_}, {"duplicate_numbers", 0}, {"repeated_incomplete", 0}, {"out_of_step", 0}};
    for (const Fate& fate : fates_) {
      if (fate.dropped == kDuplicate) ++counts["duplicate_numbers"];
      if (fate.dropped == kRepeated) ++counts["repeated_incomplete"];
      if (fate.dropped == kOutOfStep) ++counts["out_of_step"];
    }
    if (used_.empty()) return counts;
    counts["first_number"] = used_.front().value;
    counts["last_number"] = used_.back().value;
    return counts;
  }

  const std::vector<Arrival>& arrivals_;
  Fates fates_;
  std::vector<Tick> used_;  ///< ticks of the events kept
  std::size_t kept_ = 0;    ///< the last event kept
  std::uint64_t missing_ = 0;
  bool took_back_ = false;  ///< an event after the last one kept, which can no longer be taken back since
  bool unspecified_ = false;
};

/// An ascending sequence of numbers with defects of all kinds.
std::vector<Arrival> troubled(std::mt19937_64& random) {
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  const std::uint32_t starts[] = {0, 1, kLast32 - 3, kLast32 - 70'000, static_cast<std::uint32_t>(random())};
  std::uint32_t number = starts[random() % std::size(starts)];
  const auto trouble = static_cast<unsigned>(random() % 40);
  std::vector<Arrival> out;
  for (std::size_t n = random() % 60; out.size() < n;) {
    std::uint32_t next = number;
    if (!chance(trouble)) {
      next = ++number;
    } else if (chance(30)) {
      number += 1 + static_cast<std::uint32_t>(random() % 2000);  // a gap
      next = number;
    } else if (chance(20)) {
      number += static_cast<std::uint32_t>(random() % 300'000);
      next = number;
    } else if (chance(50)) {
      next = number + 8 - static_cast<std::uint32_t>(random() % 16);  // nearby, behind or ahead
    } else if (chance(50)) {
      next = static_cast<std::uint32_t>(random());
    } else if (!out.empty()) {
      next = out[random() % out.size()].number;
    }
    do {
      out.push_back({next, chance(50)});
    } while (chance(trouble / 2));
  }
  return out;
}

std::string text_of(const std::vector<Arrival>& arrivals) {
  std::string text;
  for (const auto& a : arrivals) text += std::to_string(a.number) + (a.completes ? "+ " : " ");
  return text;
}

TEST(EventNumbers, JudgesLikeAModelThatSeesTheWholeStream) {
  std::mt19937_64 random(11);
  std::size_t compared = 0;
  for (int i = 0; i < 15'000; ++i) {
    const auto arrivals = troubled(random);
    const auto expected = Model(arrivals).judge();
    if (!expected) continue;
    ++compared;
    const auto found = judged(arrivals);
    ASSERT_EQ(found.fates, expected->fates) << text_of(arrivals);
    ASSERT_EQ(found.counts, expected->counts) << text_of(arrivals);
  }
  EXPECT_GT(compared, 10'000U);
}

TEST(EventNumbers, NoNumberIsKeptTwiceAndAllRise) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 4000; ++i) {
    const auto arrivals = troubled(random);
    const auto [fates, counts] = judged(arrivals);
    std::optional<Tick> last;
    std::uint64_t missing = 0;
    for (std::size_t at = 0; at < fates.size(); ++at) {
      if (fates[at].dropped) continue;
      ASSERT_EQ(static_cast<std::uint32_t>(fates[at].tick), arrivals[at].number) << text_of(arrivals);
      if (last) {
        ASSERT_GT(fates[at].tick, *last) << text_of(arrivals);
        missing += (fates[at].tick - *last).value - 1;
      } else {
        ASSERT_EQ(fates[at].tick, Tick(counts.at("first_number"))) << text_of(arrivals);
      }
      last = fates[at].tick;
    }
    if (last) {
      ASSERT_EQ(*last, Tick(counts.at("last_number"))) << text_of(arrivals);
    }
    ASSERT_EQ(missing, counts.at("missing_numbers")) << text_of(arrivals);
  }
}

TEST(EventNumbers, RisingNumbersStayAndGapsAreCounted) {
  const auto found = judged(arrivals_of({7, 8, 11, 12}));
  EXPECT_EQ(found.fates, (Fates{kept_at(7), kept_at(8), kept_at(11), kept_at(12)}));
  EXPECT_EQ(found.counts, (CountsByName{{"first_number", 7},
                                        {"last_number", 12},
                                        {"missing_numbers", 2},
                                        {"duplicate_numbers", 0},
                                        {"repeated_incomplete", 0},
                                        {"out_of_step", 0}}));
}

TEST(EventNumbers, AnEmptyStreamHasNoFirstNumber) {
  const auto found = judged({});
  EXPECT_FALSE(found.counts.contains("first_number"));
  EXPECT_FALSE(found.counts.contains("last_number"));
  EXPECT_EQ(judged({{5, false}}).counts.at("first_number"), 5U);
}

TEST(EventNumbers, NumbersContinueBeyond32Bits) {
  const Tick wrap = Tick(std::uint64_t{1} << 32);
  EXPECT_EQ(fates_of({kLast32 - 1, kLast32, 0, 1}),
            (Fates{kept_at(wrap - 2), kept_at(wrap - 1), kept_at(wrap), kept_at(wrap + 1)}));
  const auto gap = judged(arrivals_of({kLast32 - 1, kLast32, 3, 4}));
  EXPECT_EQ(gap.fates.back(), kept_at(wrap + 4));
  EXPECT_EQ(gap.counts.at("missing_numbers"), 3U);
  EXPECT_EQ(Tick(gap.counts.at("last_number")), wrap + 4);
  EXPECT_EQ(fates_of({kLast32 - 1, kLast32, 0, kLast32, 1}).at(3), dropped_for(kDuplicate));
}

TEST(EventNumbers, ASecondEventOfANumberIsADuplicate) {
  EXPECT_EQ(fates_of({1, 2, 2, 2, 3}),
            (Fates{kept_at(1), kept_at(2), dropped_for(kDuplicate), dropped_for(kDuplicate), kept_at(3)}));
  EXPECT_EQ(fates_of({1, 2, 3, 4, 2, 5}).at(4), dropped_for(kDuplicate));
}

TEST(EventNumbers, AnUnfinishedCopyGivesWayToTheEvent) {
  const auto found = judged({{1}, {2}, {2, true}, {3}});
  EXPECT_EQ(found.fates, (Fates{kept_at(1), dropped_for(kRepeated), kept_at(2), kept_at(3)}));
  EXPECT_EQ(found.counts.at("repeated_incomplete"), 1U);
  EXPECT_EQ(found.counts.at("duplicate_numbers"), 0U);
  EXPECT_EQ(judged({{1}, {1, true}, {2}}).fates, (Fates{dropped_for(kRepeated), kept_at(1), kept_at(2)}))
      << "the first event";
  EXPECT_EQ(judged({{1}, {9}, {9, true}, {10}}).fates,
            (Fates{kept_at(1), dropped_for(kRepeated), kept_at(9), kept_at(10)}))
      << "behind a gap";
}

TEST(EventNumbers, NothingIsCompletedThatIsNoLongerAtHand) {
  // 2 follows 50 directly, not the 2 that it might complete.
  const auto found = judged({{1}, {2}, {50}, {2, true}, {3}});
  EXPECT_EQ(found.fates, (Fates{kept_at(1), kept_at(2), dropped_for(kOutOfStep), dropped_for(kDuplicate), kept_at(3)}));
  EventNumbers numbers(32);
  for (const std::uint32_t number : {1, 2, 50}) numbers.judge(number, false);
  const auto judgement = numbers.judge(2, true);
  EXPECT_EQ(judgement.previous, kOutOfStep);
  EXPECT_EQ(judgement.current, kDuplicate);
}

/// A reader holds back the last event only: what was kept before an event taken back has been handed over.
TEST(EventNumbers, WhatLiesBeforeAnEventTakenBackIsNotTakenBackToo) {
  EventNumbers numbers(32);
  numbers.judge(3, false);
  numbers.judge(4, false);
  numbers.judge(50, false);
  EXPECT_EQ(numbers.judge(2, false).previous, kOutOfStep);
  EXPECT_FALSE(numbers.repeats(4));
  const auto judgement = numbers.judge(4, true);
  EXPECT_FALSE(judgement.previous);
  EXPECT_EQ(judgement.current, kDuplicate);
  numbers.judge(5, false);
  EXPECT_TRUE(numbers.repeats(5));
  EXPECT_EQ(numbers.judge(5, true).previous, kRepeated);
}

TEST(EventNumbers, ANumberThatWasNeverUsedAndGoesBackIsOutOfStep) {
  EXPECT_EQ(fates_of({10, 11, 9, 12}).at(2), dropped_for(kOutOfStep));
  EXPECT_EQ(fates_of({10, 11, 15, 16, 13, 17}).at(4), dropped_for(kOutOfStep)) << "of a gap";
  EXPECT_EQ(fates_of({2, 3, kLast32, 4}).at(2), dropped_for(kOutOfStep)) << "before the number 0";
  EXPECT_EQ(fates_of({99, 100, 101, kLast32 - 0x1ffff + 100, 102}).at(3), dropped_for(kOutOfStep))
      << "and far before it";
}

TEST(EventNumbers, ALoneJumpGoesAndCostsNoOther) {
  const auto found = judged(arrivals_of({1, 2, 900'000, 3, 4}));
  EXPECT_EQ(found.fates, (Fates{kept_at(1), kept_at(2), dropped_for(kOutOfStep), kept_at(3), kept_at(4)}));
  EXPECT_EQ(found.counts.at("missing_numbers"), 0U);
  EXPECT_EQ(found.counts.at("last_number"), 4U);
  EXPECT_EQ(fates_of({1, 2, 500, 400, 300, 3}), (Fates{kept_at(1), kept_at(2), dropped_for(kOutOfStep),
                                                       dropped_for(kOutOfStep), dropped_for(kOutOfStep), kept_at(3)}));
}

TEST(EventNumbers, AJumpThatIsFollowedIsAGap) {
  const auto found = judged(arrivals_of({1, 2, 900'000, 900'500, 900'501}));
  EXPECT_EQ(found.fates, (Fates{kept_at(1), kept_at(2), kept_at(900'000), kept_at(900'500), kept_at(900'501)}));
  EXPECT_EQ(found.counts.at("missing_numbers"), 900'496U);
}

TEST(EventNumbers, AWrongFirstNumberGoes) {
  const auto found = judged(arrivals_of({500'000, 1, 2, 3}));
  EXPECT_EQ(found.fates, (Fates{dropped_for(kOutOfStep), kept_at(1), kept_at(2), kept_at(3)}));
  EXPECT_EQ(found.counts.at("first_number"), 1U);
  EXPECT_EQ(found.counts.at("missing_numbers"), 0U);
  EXPECT_EQ(fates_of({0x40000000, 0x7f000000, 5, 6}),
            (Fates{dropped_for(kOutOfStep), dropped_for(kOutOfStep), kept_at(5), kept_at(6)}));
  EXPECT_EQ(fates_of({5, 0x40000005, 0x40000006}),
            (Fates{dropped_for(kOutOfStep), kept_at(0x40000005), kept_at(0x40000006)}))
      << "a first step that long is no gap";
}

TEST(EventNumbers, ALastNumberThatJumpsFarGoes) {
  const auto far = judged(arrivals_of({1, 2, 5000}));
  EXPECT_EQ(far.fates, (Fates{kept_at(1), kept_at(2), dropped_for(kOutOfStep)}));
  EXPECT_EQ(far.counts.at("last_number"), 2U);
  EXPECT_EQ(far.counts.at("missing_numbers"), 0U);
  const auto near = judged(arrivals_of({1, 2, 900}));
  EXPECT_EQ(near.fates.back(), kept_at(900));
  EXPECT_EQ(near.counts.at("missing_numbers"), 897U);
}

TEST(EventNumbers, OthersConfirmANumberUpToALittleBeyondThem) {
  EventNumbers numbers(32);
  EXPECT_TRUE((numbers.judge(5, false), numbers.doubts_first()));
  numbers.confirm(3);
  EXPECT_FALSE(numbers.doubts_first());
  numbers.judge(9000, false);
  numbers.confirm(7900);
  EXPECT_FALSE(numbers.stays());
  numbers.confirm(8000);
  EXPECT_TRUE(numbers.stays());
  EXPECT_EQ(numbers.judge(9001, false).previous, std::nullopt);
  EXPECT_EQ(numbers.judge(8999, false).current, kOutOfStep);
  EXPECT_EQ(numbers.finish(), std::nullopt);
  EXPECT_EQ(numbers.counters().by_name().at("missing_numbers"), 8994U);
}

TEST(EventNumbers, AFirstNumberFarBeyondOthersIsNotConfirmed) {
  EventNumbers numbers(32);
  numbers.judge(500'000, false);
  numbers.confirm(1);
  EXPECT_TRUE(numbers.doubts_first());
  EXPECT_EQ(numbers.judge(1, false).previous, kOutOfStep);
}

/// The memory of used numbers is finite: its old contents must not be mistaken for later numbers.
TEST(EventNumbers, UsedNumbersAreDistinguishedAfterGapsOfAnyLength) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 800; ++round) {
    std::vector<std::uint32_t> numbers;
    // Near a multiple of 2^16, where a memory of that size wraps.
    auto number = static_cast<std::uint32_t>((random() & 0xffff0000U) - random() % 1000);
    for (auto runs = 2 + random() % 3; runs > 0; --runs) {
      for (auto run = 2 + random() % 300; run > 0; --run) numbers.push_back(number++);
      const std::uint64_t lengths[] = {300, 20'000, 64'900, 65'436, 65'936, 200'000};
      if (runs > 1) number += static_cast<std::uint32_t>(random() % 200 + lengths[random() % std::size(lengths)]);
    }
    const std::set<std::uint32_t> used(numbers.begin(), numbers.end());
    const std::size_t rising = numbers.size();
    for (std::uint32_t back = 1; back < 1000; ++back) numbers.push_back(numbers[rising - 1] - back);
    const auto fates = fates_of(numbers);
    for (std::size_t i = 0; i < rising; ++i) ASSERT_FALSE(fates[i].dropped) << i;
    for (std::size_t i = rising; i < fates.size(); ++i) {
      ASSERT_EQ(fates[i], dropped_for(used.contains(numbers[i]) ? kDuplicate : kOutOfStep)) << i;
    }
  }
}

TEST(EventNumbers, CountsCanBeAskedForBeforeTheEnd) {
  EventNumbers numbers(32);
  numbers.judge(7, false);
  EXPECT_EQ(numbers.counters().by_name().at("first_number"), 7U);
  EXPECT_EQ(numbers.counters().by_name().at("last_number"), 7U);
  numbers.judge(8, false);
  EXPECT_EQ(numbers.counters().by_name().at("first_number"), 7U);
  EXPECT_EQ(numbers.counters().by_name().at("last_number"), 8U);
}

TEST(EventNumbers, AnEraContinuesAfterAllBefore) {
  EventNumbers numbers(32);
  for (std::uint32_t number = 4'000'000'000U; number < 4'000'000'010U; ++number) numbers.judge(number, false);
  EXPECT_FALSE(numbers.finish());
  EXPECT_EQ(numbers.begin_era(3), Tick(5'000'000'003));
  EXPECT_EQ(numbers.judge(4, false).tick, Tick(5'000'000'004));
  EXPECT_EQ(numbers.judge(3, false).current, kDuplicate);
  EXPECT_EQ(numbers.judge(6, false).tick, Tick(5'000'000'006));
  EXPECT_FALSE(numbers.finish());
  EXPECT_EQ(numbers.begin_era(0), Tick(6'000'000'000));
  EXPECT_EQ(numbers.judge(1, false).tick, Tick(6'000'000'001));
  EXPECT_EQ(numbers.counters().by_name().at("missing_numbers"), 1U) << "between eras none is missing";
  EXPECT_EQ(numbers.offset(), Tick(6'000'000'000));
}

TEST(EventNumbers, RepeatsMeansTheLastEventKept) {
  EventNumbers numbers(32);
  EXPECT_FALSE(numbers.repeats(0));
  numbers.judge(4, false);
  numbers.judge(5, false);
  EXPECT_TRUE(numbers.repeats(5));
  EXPECT_FALSE(numbers.repeats(4));
  numbers.judge(3, false);  // dropped
  EXPECT_TRUE(numbers.repeats(5));
  EXPECT_EQ(numbers.judge(5, true).previous, kRepeated);
}

TEST(EventNumbers, NarrowOnesWrapAroundSooner) {
  for (const unsigned bits : {16U, 24U}) {
    const auto range = std::uint32_t{1} << bits;
    const auto result = judged(arrivals_of({range - 2, range - 1, 1, 2, 0, 1, 3}), bits);
    EXPECT_EQ(result.fates, (Fates{kept_at(Tick(range - 2)), kept_at(Tick(range - 1)), kept_at(Tick(range + 1)),
                                   kept_at(Tick(range + 2)), dropped_for(kOutOfStep), dropped_for(kDuplicate),
                                   kept_at(Tick(range + 3))}));
    EXPECT_EQ(result.counts.at("missing_numbers"), 1U);
  }
}

TEST(EventNumbers, RaisedOnesContinueFromThere) {
  EventNumbers numbers(16);
  for (const std::uint32_t number : {65534U, 65535U, 0U}) numbers.judge(number, false);
  EXPECT_EQ(numbers.first(), Tick(65534));
  numbers.raise(Tick(std::uint64_t{3} << 16));
  EXPECT_EQ(numbers.first(), Tick((3U << 16) + 65534));
  EXPECT_EQ(numbers.judge(1, false).tick, Tick((4U << 16) + 1));
  EXPECT_EQ(numbers.judge(0, false).current, kDuplicate);
}

}  // namespace
}  // namespace eventloom
