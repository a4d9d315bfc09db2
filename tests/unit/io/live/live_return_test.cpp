#include "io/live/live_return.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eventloom::test {
namespace {

/// 100 of its hits are finished; it had sent 40 before the run began.
constexpr LivePast kPastOfBoard{PeerPlace{5, 40}, 100, 7, 0};

LiveReturn::First counting(std::uint32_t session, std::int64_t before) {
  LiveReturn::First first;
  first.counts = true;
  first.joined = PeerPlace{session, before};
  first.epoch = 9;
  return first;
}

LiveReturn::First numbered(Tick time) {
  LiveReturn::First first;
  first.numbered = true;
  first.epoch_ticks = 16;
  first.time = time;
  first.epoch = epoch_of(time, 16);
  return first;
}

LiveReturn::First stamped(Epoch epoch) {
  LiveReturn::First first;
  first.epoch = epoch;
  return first;
}

/// Nothing is finished. Its first event number in the run was 100.
constexpr LivePast begun(std::optional<PeerPlace> place = PeerPlace{0, 0, Tick(100)}) {
  return {.place = place, .end = 9, .none_finished = true};
}

constexpr LivePast unknown(std::uint64_t hits, Epoch end, Epoch epochs_missing = 0) {
  return {std::nullopt, hits, end, epochs_missing};
}

LiveReturn::Missed missed(const LivePast& past, const LiveReturn::First& first) {
  LiveReturn back;
  back.resume_after(past);
  EXPECT_TRUE(back.awaits_first());
  const auto found = back.join(first);
  EXPECT_FALSE(back.awaits_first());
  EXPECT_TRUE(back.continues() || !first.counts || found.unknown || !past.place);
  EXPECT_TRUE(!back.continues() || (first.counts && past.place));
  EXPECT_EQ(found.any(), !found.text.empty());
  return found;
}

TEST(LiveReturn, CountsWhatASenderHasSentMeanwhile) {
  EXPECT_EQ(missed(kPastOfBoard, counting(5, 140)).hits, 0U);
  EXPECT_FALSE(missed(kPastOfBoard, counting(5, 140)).any());
  EXPECT_EQ(missed(kPastOfBoard, counting(5, 173)).hits, 33U);
}

TEST(LiveReturn, DoesNotKnowOfASenderThatIsNotTheSame) {
  EXPECT_TRUE(missed(kPastOfBoard, counting(6, 173)).unknown) << "another session";
  EXPECT_TRUE(missed(kPastOfBoard, counting(5, 139)).unknown) << "a count that has gone back";
  EXPECT_TRUE(missed(unknown(100, 7), counting(5, 173)).unknown) << "a place that was not kept";
  EXPECT_TRUE(missed(unknown(0, 7), counting(5, 1)).unknown) << "it had sent before it was first heard";
  EXPECT_FALSE(missed(unknown(0, 7), counting(5, 0)).any()) << "it has come since, and is heard from its first hit on";
}

TEST(LiveReturn, CountsEventNumbers) {
  EXPECT_EQ(missed(unknown(9, 7, 2), numbered(9 * 16 + 3)).numbers, (9U - 7U + 2U) * 16U + 3U);
  EXPECT_FALSE(missed(unknown(9, 7), numbered(7 * 16)).any());
  EXPECT_TRUE(missed(unknown(9, 7), numbered(7 * 16 - 1)).unknown) << "it has begun again";
}

/// The run was stopped in the middle of a slice, which is finished, after number 1000: the others are missing. Slices
/// that were finished later have accounted for them.
TEST(LiveReturn, CountsFromWhereTheRunWasStopped) {
  for (const Epoch end : {Epoch(99), Epoch(100), Epoch(101)}) {
    auto past = unknown(0, 100);
    past.place = PeerPlace{.first = Tick(7), .next = Tick(1001), .end = end};
    EXPECT_EQ(missed(past, numbered(2000)).numbers, end < 100 ? 2000U - 1600 : 2000U - 1001);
  }
  auto past = unknown(0, 50);
  past.place = PeerPlace{.first = Tick(7), .next = Tick(1001), .end = 100};
  EXPECT_EQ(missed(past, numbered(2000)).numbers, 2000U - 800) << "the last slices are not finished";
}

TEST(LiveReturn, KeepsWhereTheRunWasStopped) {
  std::vector<PeerPlace> kept;
  LiveReturn stopped;
  stopped.keep([&kept](const PeerPlace& place) { kept.push_back(place); });
  stopped.join(numbered(100));
  stopped.note_place(std::nullopt, 0);
  stopped.note_stop(777, 50);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].first, Tick(100));
  EXPECT_EQ(kept[1].next, Tick(777));
  EXPECT_EQ(kept[1].end, Epoch(50));
  LiveReturn again;
  again.resume_after({.place = kept[1], .end = 50});
  again.keep([&kept](const PeerPlace& place) { kept.push_back(place); });
  again.join(numbered(2000));
  again.note_place(std::nullopt, 0);
  EXPECT_EQ(kept.back().next, Tick(777)) << "it may die before it has finished anything";
}

TEST(LiveReturn, CountsFromTheBeginningOfARunThatHasFinishedNothing) {
  EXPECT_EQ(missed(begun(PeerPlace{5, 40}), counting(5, 73)).hits, 33U);
  EXPECT_EQ(missed(begun(), numbered(130)).numbers, 30U);
  EXPECT_FALSE(missed(begun(), numbered(100)).any());
  EXPECT_TRUE(missed(begun(), numbered(99)).unknown) << "it has begun again";
  EXPECT_TRUE(missed(begun(std::nullopt), numbered(130)).unknown) << "it had not been heard";
}

/// What the invocation between them reported may not be on disk.
TEST(LiveReturn, AnUnknownLossIsNotForgotten) {
  LiveReturn back;
  std::vector<PeerPlace> kept;
  back.keep([&](const PeerPlace& place) { kept.push_back(place); });
  back.resume_after(begun(PeerPlace{4, 40}));
  EXPECT_TRUE(back.join(counting(5, 73)).unknown);
  back.note_place(PeerCount{5, 75}, 2);
  ASSERT_EQ(kept, (std::vector<PeerPlace>{{5, 73, {}, true}}));
  const auto again = missed(begun(kept.back()), counting(5, 80));
  EXPECT_TRUE(again.unknown);
  EXPECT_EQ(again.hits, 7U);
}

TEST(LiveReturn, KeepsTheFirstNumberOfTheRun) {
  LiveReturn back;
  std::vector<PeerPlace> kept;
  back.keep([&](const PeerPlace& place) { kept.push_back(place); });
  back.note_place(std::nullopt, 0);
  EXPECT_TRUE(back.awaits_first() && kept.empty());
  EXPECT_FALSE(back.join(numbered(130)).any());
  EXPECT_FALSE(back.awaits_first());
  back.note_place(std::nullopt, 7);
  EXPECT_EQ(kept, (std::vector<PeerPlace>{{0, 0, Tick(130)}}));
  LiveReturn later;
  later.keep([&](const PeerPlace& place) { kept.push_back(place); });
  later.resume_after(begun(kept.back()));
  EXPECT_EQ(later.join(numbered(150)).numbers, 20U);
  later.note_place(std::nullopt, 9);
  EXPECT_EQ(kept.back(), kept.front()) << "the run began there";
}

TEST(LiveReturn, DoesNotKnowOfSendersThatReportNothing) {
  EXPECT_TRUE(missed(unknown(0, 7), stamped(9)).unknown);
  EXPECT_TRUE(missed(unknown(3, 7), stamped(3)).unknown);
}

TEST(LiveReturn, KeepsThePlaceWheneverItChanges) {
  LiveReturn back;
  std::vector<PeerPlace> kept;
  back.keep([&](const PeerPlace& place) { kept.push_back(place); });
  back.note_place(std::nullopt, 0);
  back.note_place(PeerCount{5, 60}, 20);
  back.note_place(PeerCount{5, 75}, 35);
  EXPECT_EQ(kept, (std::vector<PeerPlace>{{5, 40}}));
  back.note_place(PeerCount{6, 8}, 43);
  EXPECT_EQ(kept.back(), (PeerPlace{6, -35}));
}

/// The position of a resumed run counts the hits of all its invocations.
TEST(LiveReturn, KeepsItsPlaceWhenItContinues) {
  LiveReturn back;
  std::vector<PeerPlace> kept;
  back.keep([&](const PeerPlace& place) { kept.push_back(place); });
  back.resume_after(kPastOfBoard);
  back.note_place(PeerCount{5, 173}, 0);
  EXPECT_TRUE(kept.empty()) << "nothing is known before the first data";
  EXPECT_EQ(back.join(counting(5, 173)).hits, 33U);
  back.note_place(PeerCount{5, 180}, 33 + 7);
  EXPECT_EQ(kept, (std::vector<PeerPlace>{{5, 40}}));
}

}  // namespace
}  // namespace eventloom::test
