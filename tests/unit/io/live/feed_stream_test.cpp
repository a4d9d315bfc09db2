#include "io/live/feed_stream.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "core/runtime/error.hpp"
#include "fake_feed.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/live/damage_records.hpp"
#include "io/live/recorded_losses.hpp"

namespace eventloom::test {
namespace {

constexpr Epoch kFar = std::numeric_limits<Epoch>::max();
constexpr std::size_t kPlenty = std::size_t{1} << 30;
/// Size of a stored epoch buffer with one hit: an epoch, a time and a channel marker, padded.
constexpr std::size_t kBufferSize = sizeof(EpochBufferHeader) + 4 * sizeof(std::uint32_t) + sizeof(IndexEntry);

FeedStream::Settings holding(std::size_t bytes) {
  return {.buffer_bytes = bytes, .drop_when_full = false, .record = {}};
}
FeedStream::Settings dropping(std::size_t bytes) {
  return {.buffer_bytes = bytes, .drop_when_full = true, .record = {}};
}

/// Accepts buffers of one epoch and one hit each, one by one.
void feed_epochs(Live& live, EpochRange epochs) {
  for (Epoch epoch = epochs.begin; epoch < epochs.end; ++epoch) {
    live.feed.add(make_buffer(epoch, 1));
    live.stream.receive();
  }
}

std::vector<Epoch> epochs_of(const SliceData& data) {
  std::vector<Epoch> epochs;
  for (const auto& hit : hits_in(data)) epochs.push_back(hit.epoch);
  return epochs;
}

TEST(FeedStream, IsKnownWhenItsHeaderAndItsBeginningAre) {
  Live live;
  live.feed.known = false;
  EXPECT_FALSE(live.stream.peer().known);
  feed_epochs(live, {5, 7});
  EXPECT_FALSE(live.stream.peer().known);
  live.feed.known = true;
  live.feed.said.text = "what the board says";
  EXPECT_TRUE(live.stream.peer().known);
  EXPECT_EQ(live.stream.first_epoch(), Epoch(5));
  live.stream.fix_header();
  EXPECT_EQ(live.stream.header().text, "what the board says");
}

TEST(FeedStream, OneThatEndsEmptyIsKnown) {
  Live live;
  live.feed.known = false;
  live.feed.next.ended = true;
  EXPECT_NE(live.stream.receive(), 0U);
  EXPECT_TRUE(live.stream.peer().known);
  EXPECT_EQ(live.stream.first_epoch(), std::nullopt);
  EXPECT_EQ(live.stream.end_epoch(), Epoch(0));
  EXPECT_TRUE(live.request({0, 1000}));
}

/// Also if it has ended its stream, unless events may lack it.
TEST(FeedStream, APeerThatWasNeverHeardIsAnAnomaly) {
  for (const bool ends : {false, true}) {
    for (const bool optional : {false, true}) {
      Live live;
      if (optional) live.feed.said.flags |= kOptional;
      live.stream.fix_header();
      live.feed.came_instead = "3 datagrams of others";
      live.feed.next.ended = ends;
      live.stream.receive();
      const auto before = live.stream.anomalies();
      testing::internal::CaptureStdout();
      live.stream.close();
      const auto said = testing::internal::GetCapturedStdout();
      const bool reported = said.find("nothing received: 3 datagrams of others") != std::string::npos;
      EXPECT_EQ(reported, !optional) << said;
      EXPECT_EQ(live.stream.anomalies() - before, reported ? 1U : 0U);
    }
  }
}

/// One source joins a running stream, and another hears it from its start.
TEST(FeedStream, KnowsWhetherItsPeerHadSentBefore) {
  Live fresh;
  feed_epochs(fresh, {5, 7});
  EXPECT_FALSE(fresh.stream.peer().joined);
  Live joined;
  joined.feed.next.damage.push_back({.first_epoch = 0, .n_epochs = 5, .n_hits = 9, .cause = DropCause::lost});
  feed_epochs(joined, {5, 7});
  EXPECT_TRUE(joined.stream.peer().joined);
}

TEST(FeedStream, CollectsWhatOverlaps) {
  Live live;
  live.feed.add(make_buffer(0, 1, 4));
  live.feed.add(make_buffer(4, 1, 4));
  live.stream.receive();
  live.feed.add(make_buffer(8, 1, 4));
  live.feed.add(make_buffer(20, 1));
  live.stream.receive();
  EXPECT_EQ(epochs_of(live.collect({4, 8})), (std::vector<Epoch>{4, 5, 6, 7}));
  EXPECT_EQ(epochs_of(live.collect({7, 9})), (std::vector<Epoch>{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(epochs_of(live.collect({12, 20})).empty());
  EXPECT_EQ(epochs_of(live.collect({12, 21})), (std::vector<Epoch>{20}));
}

TEST(FeedStream, WhatIsCollectedStaysUntilItIsForgotten) {
  Live live;
  feed_epochs(live, {0, 4});
  const auto data = live.collect({1, 3});
  feed_epochs(live, {4, 500});
  live.stream.release_before(1);
  EXPECT_EQ(epochs_of(data), (std::vector<Epoch>{1, 2}));
}

TEST(FeedStream, NamesWhereSomethingBegins) {
  Live live;
  live.feed.add(make_buffer(3, 1, 2));
  live.stream.receive();
  live.feed.next.damage.push_back({.first_epoch = 6, .n_epochs = 2, .n_hits = 1, .cause = DropCause::lost});
  live.feed.add(make_buffer(9, 1));
  live.stream.receive();
  EXPECT_EQ(live.stream.next_beginning(0), Epoch(3));
  EXPECT_EQ(live.stream.next_beginning(4), Epoch(6));
  EXPECT_EQ(live.stream.next_beginning(7), Epoch(9));
}

TEST(FeedStream, ContinuesFromItsPosition) {
  Live live;
  live.feed.add(make_buffer(3, 1, 2));
  live.feed.next.complete = Epoch(1'000'000'000'000);
  live.stream.receive();
  EXPECT_EQ(live.stream.next_beginning(4), Epoch(1'000'000'000'000));
  live.feed.add(make_buffer(500, 1));
  live.stream.receive();
  EXPECT_EQ(live.stream.next_beginning(4), Epoch(1'000'000'000'000)) << "it was decided that there was nothing";
  EXPECT_EQ(live.count("hits_dropped_late"), 1U);
}

TEST(FeedStream, EndsAfterItsLastDataOrDamage) {
  Live live;
  feed_epochs(live, {3, 5});
  EXPECT_EQ(live.stream.end_epoch(), std::nullopt);
  live.feed.next.damage.push_back({.first_epoch = 7, .n_epochs = 3, .n_hits = 1, .cause = DropCause::lost});
  live.feed.next.damage.push_back({.first_epoch = 10, .n_epochs = kFar - 10, .cause = DropCause::lost});
  live.feed.next.ended = true;
  live.stream.receive();
  EXPECT_EQ(live.stream.end_epoch(), Epoch(10));
  ASSERT_TRUE(live.stream.tail_damage());
  EXPECT_EQ(live.stream.tail_damage()->first_epoch, Epoch(10));
}

TEST(FeedStream, IsReadyWhenAllBeforeAnEndHasCome) {
  Live live;
  feed_epochs(live, {3, 5});
  EXPECT_TRUE(live.request({0, 5}));
  EXPECT_FALSE(live.request({0, 6}));
  live.feed.next.complete = 9;
  EXPECT_NE(live.stream.receive(), 0U);
  EXPECT_TRUE(live.request({0, 9}));
  EXPECT_EQ(live.stream.progress().complete, Epoch(9));
  EXPECT_EQ(live.stream.progress().received, Epoch(9));
}

TEST(FeedStream, SaysWhetherAnythingHasCome) {
  Live live;
  EXPECT_EQ(live.stream.receive(), 0U);
  live.feed.next.damage.push_back({.first_epoch = 0, .n_epochs = 0, .n_hits = 1, .cause = DropCause::lost});
  EXPECT_NE(live.stream.receive(), 0U) << "damage alone";
  EXPECT_EQ(live.stream.receive(), 0U);
  live.stream.advance(100, Advance::missing);
  live.feed.next.complete = 5;
  EXPECT_NE(live.stream.receive(), 0U) << "a report of a source that has been given up";
  EXPECT_EQ(live.stream.receive(), 0U);
}

TEST(FeedStream, TellsItsFeedOnceWhatTheOutputHas) {
  Live live;
  for (const Epoch epoch : std::vector<Epoch>{5, 3, 5, 9}) live.stream.advance(epoch, Advance::released);
  EXPECT_EQ(live.feed.safe, (std::vector<Epoch>{5, 9}));
  EXPECT_EQ(live.stream.progress().complete, Epoch(0)) << "its data are still awaited";
}

TEST(FeedStreamGivesUp, WhatIsMissingIsMarkedOnce) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::missing);
  EXPECT_TRUE(live.request({0, 10}));
  EXPECT_EQ(live.stream.progress().complete, Epoch(10));
  EXPECT_EQ(live.stream.progress().received, Epoch(3)) << "of the peer itself";
  const auto data = live.collect({0, 10});
  EXPECT_EQ(epochs_of(data), (std::vector<Epoch>{0, 1, 2}));
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(3));
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(7));
  EXPECT_EQ(data.damage[0].n_hits, 0U);
  EXPECT_EQ(data.damage[0].cause, DropCause::late);
  live.stream.advance(20, Advance::missing);
  const auto next = live.collect({10, 20});
  ASSERT_EQ(next.damage.size(), 1U);
  EXPECT_EQ(next.damage[0].first_epoch, Epoch(10));
  EXPECT_EQ(live.count("epochs_given_up"), 17U);
}

/// The peer has sent further than it has reported complete.
TEST(FeedStreamGivesUp, WhatIsThereIsNotMissing) {
  Live live;
  live.feed.add(make_buffer(0, 1, 5));
  live.feed.next.complete = 2;
  live.stream.receive();
  live.stream.advance(10, Advance::missing);
  const auto data = live.collect({0, 10});
  EXPECT_EQ(epochs_of(data), (std::vector<Epoch>{0, 1, 2, 3, 4}));
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(5));
  EXPECT_EQ(live.count("epochs_given_up"), 5U);
}

/// The run accepts no more: it receives what the feed held back, and then states what is missing.
TEST(FeedStreamFinishes, WhenAllThatCameIsHandedOver) {
  Live live;
  feed_epochs(live, {0, 3});
  live.feed.next.seen_end = 6;
  live.stream.receive();
  EXPECT_EQ(live.stream.progress().seen_end, Epoch(6));
  EXPECT_EQ(live.stream.progress().received, Epoch(3));
  EXPECT_FALSE(live.stream.progress().drained);
  live.stream.finish(std::nullopt);
  EXPECT_TRUE(live.feed.stopped);
  live.feed.add(make_buffer(5, 2));
  live.stream.receive();
  EXPECT_TRUE(live.stream.progress().drained);
  EXPECT_FALSE(live.stream.end_epoch());
  live.stream.advance(10, Advance::ended);
  EXPECT_EQ(live.stream.end_epoch(), Epoch(6));
  EXPECT_EQ(epochs_of(live.collect({0, 10})), (std::vector<Epoch>{0, 1, 2, 5, 5}));
}

TEST(FeedStreamFinishes, WhatWasNotTakenIsCounted) {
  Live live;
  feed_epochs(live, {0, 3});
  live.feed.add(make_buffer(5, 7));
  live.stream.close();
  EXPECT_EQ(live.count("hits_not_taken"), 7U);
  EXPECT_EQ(live.stream.hits_read(), 3U);
}

/// Also counts hits lost on the way, and those of a stream that the run has ended.
TEST(FeedStreamFinishes, WhatComesAfterItsEndIsCounted) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::ended);
  live.feed.add(make_buffer(5, 7));
  live.feed.next.damage.push_back({.first_epoch = 6, .n_epochs = 1, .n_hits = 2, .cause = DropCause::lost});
  live.stream.close();
  EXPECT_EQ(live.count("hits_not_taken"), 9U);
  EXPECT_EQ(live.stream.hits_read(), 3U);
}

/// Nothing is complete yet, but its beginning is known.
TEST(FeedStreamFinishes, KnowsWhereItBeginsBeforeTheFirstBuffer) {
  Live live;
  live.feed.next.first_epoch = Epoch(40);
  live.stream.receive();
  EXPECT_TRUE(live.stream.peer().known);
  EXPECT_EQ(live.stream.first_epoch(), Epoch(40));
}

TEST(FeedStreamGivesUp, WhereNoSourceHasDataNothingIsMarked) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::ended);
  EXPECT_TRUE(live.request({0, 10}));
  EXPECT_TRUE(live.collect({0, 10}).damage.empty());
  EXPECT_EQ(live.count("epochs_given_up"), 0U);
}

TEST(FeedStreamPasses, WhatIsPassedIsEmptyAndNotMissing) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::empty);
  EXPECT_TRUE(live.request({0, 10}));
  EXPECT_FALSE(live.request({0, 11}));
  EXPECT_TRUE(live.collect({0, 10}).damage.empty());
  EXPECT_FALSE(live.stream.end_epoch()) << "it goes on";
  EXPECT_EQ(live.count("epochs_given_up"), 0U);
  EXPECT_EQ(live.stream.progress().late_passed, 0U);
  live.feed.add(make_buffer(4, 3));
  live.feed.add(make_buffer(10, 1));
  live.stream.receive();
  EXPECT_EQ(live.count("hits_dropped_late"), 3U);
  EXPECT_EQ(epochs_of(live.collect({10, 20})), std::vector<Epoch>{10});
  EXPECT_EQ(live.stream.progress().late_passed, 1U);
}

/// An epoch buffer without words, by which a recorder counts what it has lost.
TEST(FeedStreamPasses, WhatARecorderHasLostIsLostNotLate) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::empty);
  EpochBufferHeader header;
  header.source = 7;
  header.first_epoch = 4;
  header.n_epochs = 2;
  header.n_hits = 5;
  Bytes loss;
  append_stored(header, {}, loss);
  live.feed.add(loss);
  live.stream.receive();
  EXPECT_EQ(live.count("hits_dropped_lost"), 5U);
  EXPECT_EQ(live.count("hits_dropped_late"), 0U);
  EXPECT_EQ(live.stream.progress().late_passed, 0U);
  header.first_epoch = 6;
  header.n_hits = 0;
  Bytes empty;
  append_stored(header, {}, empty);
  live.feed.add(empty);
  live.stream.receive();
  EXPECT_EQ(live.stream.progress().late_passed, 1U) << "nothing is lost there, but it comes late";
}

TEST(FeedStream, SaysWhetherItsPeerIsHeldUp) {
  Live live;
  feed_epochs(live, {0, 3});
  EXPECT_FALSE(live.stream.progress().held_up);
  live.feed.next.held_up = true;
  live.stream.receive();
  EXPECT_TRUE(live.stream.progress().held_up);
  live.feed.next.ended = true;
  live.stream.receive();
  EXPECT_FALSE(live.stream.progress().held_up);
}

/// Adjacent stretches that were passed form one: hits of the first are late, too.
TEST(FeedStreamPasses, LateHitsOfAnEarlierStretchAreNoticed) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::empty);
  live.stream.advance(20, Advance::empty);
  live.feed.add(make_buffer(4, 1));
  live.stream.receive();
  EXPECT_EQ(live.stream.progress().late_passed, 1U);
}

TEST(FeedStreamSettles, WhatItsFeedHoldsBackIsDeliveredFirst) {
  Live live;
  live.feed.holds_back = true;
  live.feed.next.complete = 3;
  live.feed.next.seen_end = 6;
  EXPECT_NE(live.stream.receive(), 0U);
  EXPECT_TRUE(live.stream.advance(3, Advance::settled)) << "all of this has come";
  EXPECT_TRUE(live.feed.settled.empty());
  EXPECT_FALSE(live.stream.advance(10, Advance::settled));
  EXPECT_EQ(live.feed.settled, (std::vector<Epoch>{10}));
  live.feed.add(make_buffer(5, 2));
  live.feed.next.complete = 10;
  EXPECT_EQ(live.stream.receive(), 0U) << "it was received before, and only asked for now";
  EXPECT_TRUE(live.stream.advance(10, Advance::settled));
  EXPECT_EQ(epochs_of(live.collect({0, 10})), (std::vector<Epoch>{5, 5}));
  EXPECT_TRUE(live.stream.advance(20, Advance::settled)) << "nothing is held back any longer";
  EXPECT_EQ(live.feed.settled.size(), 1U);
  EXPECT_TRUE(live.request({0, 20}));
  live.feed.next.seen_end = 22;
  EXPECT_NE(live.stream.receive(), 0U) << "more has come, though it is not delivered";
  live.feed.add(make_buffer(19, 1));
  live.stream.receive();
  EXPECT_EQ(live.count("hits_dropped_late"), 1U);
  EXPECT_EQ(live.stream.progress().late_passed, 0U) << "in what --flush-after has ended";
  EXPECT_EQ(live.count("epochs_given_up"), 0U);
}

TEST(FeedStreamSettles, AtOnceWhereItsFeedHoldsNothingBackOrHasEnded) {
  Live live;
  live.feed.next.seen_end = 6;
  live.stream.receive();
  EXPECT_TRUE(live.stream.advance(10, Advance::settled));
  EXPECT_TRUE(live.collect({0, 10}).damage.empty());
  live.feed.holds_back = true;
  live.feed.next.seen_end = 16;
  live.stream.receive();
  EXPECT_FALSE(live.stream.advance(20, Advance::settled));
  live.stream.finish(std::nullopt);
  live.stream.receive();
  EXPECT_TRUE(live.stream.advance(20, Advance::settled));
}

/// Late hits are counted in the first epoch that is still open, and do not mark others as missing.
TEST(FeedStreamGivesUp, WhatComesLateIsCountedWhereItStillCanBe) {
  Live live;
  live.stream.advance(10, Advance::missing);
  EXPECT_EQ(live.collect({0, 10}).damage.size(), 1U);
  live.feed.add(make_buffer(4, 3));
  live.feed.add(make_buffer(8, 1, 4));
  live.feed.add(make_buffer(12, 2));
  live.stream.receive();
  const auto data = live.collect({10, 20});
  EXPECT_EQ(epochs_of(data), (std::vector<Epoch>{12, 12}));
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(10));
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(2)) << "the buffer from 8 to 12";
  EXPECT_EQ(data.damage[0].n_hits, 7U);
  EXPECT_EQ(live.count("hits_dropped_late"), 7U);
  EXPECT_EQ(live.stream.hits_read(), 9U);
}

TEST(FeedStreamHolds, NoMoreThanItMayAndContinuesWhenSomeIsForgotten) {
  Live live(holding(10 * kBufferSize));
  feed_epochs(live, {0, 100});
  EXPECT_EQ(live.feed.takes, 10U);
  EXPECT_EQ(live.stream.receive(), 0U);
  EXPECT_TRUE(live.request({0, 4}));
  live.collect({0, 4});
  live.stream.release_before(4);
  EXPECT_NE(live.stream.receive(), 0U);
  EXPECT_TRUE(live.request({4, 100}));
  EXPECT_EQ(hits_in(live.collect({4, 100})).size(), 96U);
  EXPECT_EQ(live.count("hits_dropped_congested"), 0U);
}

TEST(FeedStreamHolds, NoMoreThanItMayWhenItDrops) {
  ASSERT_EQ(make_buffer(0, 1).size() + sizeof(IndexEntry), kBufferSize);
  Live live(dropping(10 * kBufferSize));
  live.feed.add(make_buffer(0, 1));
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  feed_epochs(live, {1, 100});
  EXPECT_TRUE(live.request({4, 100}));
  const auto data = live.collect({0, 100});
  EXPECT_EQ(hits_in(data).size(), 10U);
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(10));
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(90));
  EXPECT_EQ(data.damage[0].n_hits, 90U);
  EXPECT_EQ(data.damage[0].cause, DropCause::congested);
  EXPECT_EQ(live.count("hits_dropped_congested"), 90U);
  EXPECT_EQ(live.count("dead_time_ns"), 90 * kEpochTicks);
  EXPECT_EQ(live.stream.hits_read(), 100U);
}

/// However long the run stalls, dropped buffers take no memory; here, a gap follows each of them.
TEST(FeedStreamHolds, FewRecordsOfManyDroppedBuffers) {
  Live live(dropping(10 * kBufferSize));
  live.feed.add(make_buffer(0, 1));
  live.stream.receive();
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  for (Epoch epoch = 2; epoch < 4000; epoch += 2) feed_epochs(live, {epoch, epoch + 1});
  EXPECT_LT(live.collect({0, 4000}).damage.size(), 100U);
}

/// Waiting would never end.
TEST(FeedStreamHolds, NoSliceThatIsTooLarge) {
  Live live(holding(10 * kBufferSize));
  feed_epochs(live, {0, 11});
  EXPECT_FALSE(live.request({0, 50}));
  feed_epochs(live, {11, 50});
  EXPECT_TRUE(live.request({0, 50}));
  const auto data = live.collect({0, 50});
  EXPECT_GE(hits_in(data).size(), 10U);
  EXPECT_EQ(hits_in(data).size() + live.count("hits_dropped_congested"), 50U);
  EXPECT_GT(live.count("hits_dropped_congested"), 30U);
}

/// Memory is released in whole chunks: the chunk that also holds the previous slices never becomes free.
TEST(FeedStreamHolds, NoSliceForWhichForgettingMakesNoRoom) {
  Live live(holding(10 * kBufferSize));
  for (Epoch epoch = 0; epoch < 12; ++epoch) live.feed.add(make_buffer(epoch, 1));
  live.stream.receive();
  EXPECT_TRUE(live.request({0, 8}));
  live.collect({0, 8});
  live.stream.release_before(8);
  EXPECT_FALSE(live.stream.progress().listens) << "it is full";
  EXPECT_FALSE(live.request({8, 16}));
  EXPECT_TRUE(live.stream.progress().listens) << "waiting would never end";
  feed_epochs(live, {12, 16});
  EXPECT_TRUE(live.request({8, 16}));
  EXPECT_EQ(hits_in(live.collect({8, 16})).size() + live.count("hits_dropped_congested"), 8U);
}

/// The previous slice is on its way to its builder: its arrival makes room.
TEST(FeedStreamHolds, WaitsWhereForgettingWillMakeRoom) {
  Live live(holding(10 * kBufferSize));
  feed_epochs(live, {0, 10});
  EXPECT_TRUE(live.request({0, 8}));
  live.collect({0, 8});
  EXPECT_FALSE(live.request({8, 16})) << "of another builder";
  feed_epochs(live, {10, 16});
  live.stream.release_before(8);
  live.stream.receive();
  EXPECT_TRUE(live.request({8, 16}));
  EXPECT_EQ(hits_in(live.collect({8, 16})).size(), 8U);
  EXPECT_EQ(live.count("hits_dropped_congested"), 0U);
}

/// An eighth of the memory and more: what can be released is then worth a copy.
TEST(FeedStreamHolds, TellsWhetherReleasingMakesMuchRoom) {
  Live live(holding(16 * kBufferSize));
  feed_epochs(live, {5, 12});
  EXPECT_GT(live.stream.progress().crowded_before, Epoch(0));
  EXPECT_GT(live.stream.progress().crowded_before, Epoch(7));
  EXPECT_LE(live.stream.progress().crowded_before, Epoch(8));
  EXPECT_LE(live.stream.progress().crowded_before, Epoch(100));
  live.stream.release_before(7);
  EXPECT_GT(live.stream.progress().crowded_before, Epoch(9));
}

/// The builder of the previous slice has no room at present; when it has, there is room here, too.
TEST(FeedStreamHolds, WaitsForABuilderThatIsBehind) {
  Live live(holding(10 * kBufferSize));
  feed_epochs(live, {0, 10});
  EXPECT_FALSE(live.request({8, 16})) << "of a builder that is ahead";
  feed_epochs(live, {10, 16});
  EXPECT_TRUE(live.request({0, 8}));
  live.collect({0, 8});
  live.stream.release_before(8);
  live.stream.receive();
  EXPECT_TRUE(live.request({8, 16}));
  EXPECT_EQ(hits_in(live.collect({8, 16})).size(), 8U);
  EXPECT_EQ(live.count("hits_dropped_congested"), 0U);
}

/// The slice that was too large is complete or given up: the next one is not dropped, whether or not its builder
/// requests it at once.
TEST(FeedStreamHolds, DropsNothingAfterASliceThatWasTooLarge) {
  Live there(holding(10 * kBufferSize));
  feed_epochs(there, {0, 10});
  EXPECT_FALSE(there.request({0, 20}));
  feed_epochs(there, {10, 20});
  const auto dropped = there.count("hits_dropped_congested");
  feed_epochs(there, {20, 25});
  EXPECT_EQ(there.count("hits_dropped_congested"), dropped);

  Live given_up(holding(10 * kBufferSize));
  feed_epochs(given_up, {0, 10});
  EXPECT_FALSE(given_up.request({0, 20}));
  given_up.stream.advance(20, Advance::missing);
  given_up.collect({0, 20});
  feed_epochs(given_up, {20, 25});
  EXPECT_EQ(given_up.count("hits_dropped_congested"), 0U);
}

/// The buffer spans the end, and how many of its hits lie before is unknown: the slice of its first epoch accounts for
/// it.
TEST(FeedStreamEnd, ADamagedBufferAcrossItIsOfTheRun) {
  Live live(holding(kPlenty));
  auto buffer = make_buffer(8, 1, 4);
  buffer[sizeof(EpochBufferHeader) + 1] ^= std::byte{1};
  live.feed.add(buffer);
  live.stream.receive();
  live.stream.finish(Epoch(10));
  EXPECT_EQ(live.collect({0, 10}).pieces.size(), 1U);
  EXPECT_EQ(live.stream.hits_read(), 4U);
  EXPECT_EQ(live.count("hits_after_the_end"), 0U);
}

TEST(FeedStreamEnd, HitsFromThereOnAreNotRead) {
  Live live(holding(kPlenty));
  live.feed.add(make_buffer(8, 1, 4));
  live.feed.next.damage.push_back({.first_epoch = 14, .n_epochs = 1, .n_hits = 5, .cause = DropCause::lost});
  live.stream.receive();
  EXPECT_EQ(live.stream.hits_read(), 9U);
  live.stream.finish(Epoch(10));
  EXPECT_EQ(live.stream.hits_read(), 2U);
  EXPECT_EQ(live.count("hits_after_the_end"), 7U);
}

class FeedStreamRecording : public testing::Test {
 protected:
  FeedStreamRecording() { std::filesystem::create_directories(folder_); }
  ~FeedStreamRecording() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "source-0000.epochs").string(); }
  [[nodiscard]] std::vector<Hit> recorded() const {
    EpochsSource source(path());
    SliceData data;
    source.collect({0, kFar}, data);
    return hits_in(data);
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("recording_" + std::to_string(getpid()));
};

/// The hits are counted in the first epoch that is still open, which nevertheless counts as missing.
TEST(FeedStreamGivesUp, WhatCameLateHidesNothing) {
  Live live;
  feed_epochs(live, {0, 3});
  live.stream.advance(10, Advance::missing);
  live.collect({0, 10});
  feed_epochs(live, {3, 5});
  live.stream.advance(20, Advance::missing);
  const auto data = live.collect({10, 20});
  ASSERT_EQ(data.damage.size(), 1U);
  EXPECT_EQ(data.damage[0].first_epoch, Epoch(10));
  EXPECT_EQ(data.damage[0].n_epochs, Epoch(10));
  EXPECT_EQ(data.damage[0].n_hits, 2U);
}

TEST_F(FeedStreamRecording, HoldsWhatCameBeforeItWasBegunAndWhatCameLate) {
  Live live({.buffer_bytes = kPlenty, .drop_when_full = false, .record = path()});
  feed_epochs(live, {3, 6});
  live.stream.fix_header();
  live.stream.begin({.epoch = 5});
  live.stream.advance(20, Advance::missing);
  feed_epochs(live, {6, 8});
  feed_epochs(live, {30, 31});
  EXPECT_FALSE(std::filesystem::exists(path()));
  live.stream.close();
  EXPECT_TRUE(live.feed.stopped);
  EXPECT_EQ(recorded(), (std::vector<Hit>{{3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {30, 0}}));
}

TEST_F(FeedStreamRecording, HoldsWhatTheRunDrops) {
  Live live({.buffer_bytes = 4 * kBufferSize, .drop_when_full = true, .record = path()});
  feed_epochs(live, {0, 1});
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  feed_epochs(live, {1, 20});
  EXPECT_NE(live.count("hits_dropped_congested"), 0U);
  live.stream.close();
  EXPECT_EQ(recorded().size(), 20U);
}

/// While the run waits for other sources, it has not begun, and nothing is recorded yet.
TEST_F(FeedStreamRecording, HoldsWhatCameWhileTheRunHadNotBegun) {
  Live live({.buffer_bytes = 4 * kBufferSize, .drop_when_full = true, .record = path()});
  feed_epochs(live, {0, 20});
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  live.stream.receive();
  live.stream.close();
  EXPECT_EQ(recorded().size(), 20U);
}

/// A loss may be reported before the data that precede it, and may lie where no epoch is left for it.
TEST_F(FeedStreamRecording, HoldsAllThatIsLost) {
  Live live({.buffer_bytes = kPlenty, .drop_when_full = false, .record = path()});
  feed_epochs(live, {0, 1});
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  live.feed.next.damage.push_back({.first_epoch = 5, .n_epochs = 1, .n_hits = 3, .cause = DropCause::lost});
  live.stream.receive();
  feed_epochs(live, {1, 5});
  feed_epochs(live, {8, 9});
  live.feed.next.damage.push_back({.first_epoch = 8, .n_epochs = 0, .n_hits = 4, .cause = DropCause::lost});
  live.stream.receive();
  feed_epochs(live, {9, 10});
  live.stream.close();
  EpochsSource source(path());
  SliceData data;
  source.collect({0, kFar}, data);
  EXPECT_EQ(hits_in(data).size(), 7U);
  EXPECT_EQ(source.hits_read(), 14U) << "those that are lost, too";
}

/// The peer may have had no hits there.
TEST_F(FeedStreamRecording, HoldsNoHolesWithoutHits) {
  Live live({.buffer_bytes = kPlenty, .drop_when_full = false, .record = path()});
  feed_epochs(live, {0, 1});
  live.stream.fix_header();
  live.stream.begin({.epoch = 0});
  live.feed.next.damage = {{.first_epoch = 2, .n_epochs = 3, .cause = DropCause::lost},
                           {.first_epoch = 5, .n_epochs = 1, .n_hits = 3, .cause = DropCause::corrupt}};
  feed_epochs(live, {8, 9});
  live.feed.next.damage.push_back({.first_epoch = 9, .n_epochs = kForever, .cause = DropCause::lost});
  live.stream.receive();
  live.stream.close();
  EpochsSource source(path());
  EXPECT_EQ(source.counts().counters[Metric::unknown_losses], 0U);
  EXPECT_EQ(source.hits_read(), 5U);
}

TEST(RecordedLosses, OfUnknownSizeSinceAnEarlierRecording) {
  for (const Epoch first : std::vector<Epoch>{8, 5}) {
    RecordedLosses losses(5);
    std::vector<EpochRange> unknown;
    const auto put = [&](std::span<const std::byte> stored) {
      const auto header = read_epoch_buffer_header(stored);
      if (is_unknown_loss(*header)) unknown.push_back(header->epochs());
    };
    std::vector<std::byte> buffer;
    EpochBufferHeader header{.first_epoch = first, .n_epochs = 1};
    append_stored(header, {}, buffer);
    const Damage missed{.first_epoch = 5, .n_epochs = Epoch(first > Epoch(5) ? 3 : 1), .cause = DropCause::lost};
    losses.add(buffer, {&missed, 1}, put);
    const Damage hole{.first_epoch = 10, .n_epochs = 1, .cause = DropCause::lost};
    losses.add({}, {&hole, 1}, put);
    losses.finish(put);
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].begin, first > Epoch(5) ? Epoch(5) : Epoch(6)) << "or where there is room";
  }
}

TEST_F(FeedStreamRecording, ThatCannotBeMadeIsAnError) {
  Live live({.buffer_bytes = kPlenty, .drop_when_full = false, .record = path() + "/no/folder.epochs"});
  EXPECT_THROW(live.stream.fix_header(), UserError);
}

}  // namespace
}  // namespace eventloom::test
