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

constexpr LivePast unknown(std::uint64_t hits, Epoch end, Epoch epochs_missing = 0) {
  return {std::nullopt, hits, end, epochs_missing};
}

LiveReturn::Missed missed(const LivePast& past, const LiveReturn::First& first) {
  LiveReturn back;
  EXPECT_FALSE(back.awaits_first());
  back.resume_after(past);
  EXPECT_TRUE(back.awaits_first());
  const auto found = back.join(first);
  EXPECT_FALSE(back.awaits_first());
  EXPECT_EQ(back.continues(), first.counts && !found.unknown && past.place.has_value());
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
